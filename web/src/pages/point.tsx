// One point of a sweep: where it comes from, and its whole analysis.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { keepPoint, letGoOfPoint, useKeptAnalyses, usePoint, useSweep } from '../api/queries';
import type { KeptPoint } from '../api/types';
import { changedFrom, defaultPreset, encodeSettings, settingsOf } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { mixOf } from '../models/mix';
import { AnalysisView } from '../point/analysis_view';
import { Card, ErrorBox, Segments, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const PointPage = ({ id, index }: { id: number; index: number }) => (
  <TablesGate>
    <Point id={id} index={index} />
  </TablesGate>
);

function Point({ id, index }: { id: number; index: number }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const sweep = useSweep(id);
  const point = usePoint(id, index);
  const kept = point.data?.kept ?? null;
  const analyses = useKeptAnalyses(id, index, kept?.created ?? null);
  const [workload, setWorkload] = useState('');
  const error = sweep.error ?? point.error ?? analyses.error;
  if (error) return <ErrorBox error={error} retry={() => { void sweep.refetch(); void point.refetch(); void analyses.refetch(); }} />;
  if (!sweep.data || !point.data || (kept && !analyses.data)) return <Skeleton height={420} />;
  const preset = sweep.data.spec.preset ?? defaultPreset;
  const settings = changedFrom(tables.machineOf(preset), settingsOf(point.data.machine));
  const { formats } = sweep.data.spec;
  const said = formats ? { formats } : {};
  const models = mixOf(sweep.data.model).map((part) => part.model);
  const model = models.find((one) => one === workload) ?? models[0] ?? '';
  const query = new URLSearchParams({ model, preset, set: encodeSettings(settings), ...said }).toString();
  return (
    <div className="page">
      <nav className="crumbs" aria-label={t('point.crumbs')}>
        <Link href="/">{t('nav.results')}</Link> <span aria-hidden="true">/</span>{' '}
        <Link href={`/sweeps/${id}`}>{sweep.data.name || t('sweep.number', { id })}</Link> <span aria-hidden="true">/</span>{' '}
        <span>{t('point.number', { index })}</span>
      </nav>
      <div className="page-title">
        <h1>{t('point.title', { index, model: sweep.data.model })}</h1>
        <div className="card-actions">
          <Keep id={id} index={index} kept={kept} today={!sweep.data.engine_changed} />
          <Link className="button" href={`/what-if?${query}`}>{t('point.vary')}</Link>
          <Link className="button" href={`/validate?${query}`}>{t('nav.validate')}</Link>
          <Link className="button" href={`/compare?${query}`}>{t('nav.compare')}</Link>
        </div>
      </div>
      {kept && <p className="muted" role="status">{t('point.kept', { when: kept.created.replace('T', ' ').replace('Z', ' UTC'), engine: kept.signature.slice(0, 12) })}</p>}
      {formats && <Card title={t('sweep.formats')}><pre className="rules">{formats}</pre></Card>}
      {models.length > 1 && <Segments label={t('mix.workload')} value={model} onChange={setWorkload} items={models.map((one) => ({ id: one, label: one }))} />}
      <AnalysisView design={{ model, preset, machine: settings, ...said }} kept={kept ? analyses.data?.find((one) => one.model === model) : undefined} />
    </div>
  );
}

interface KeepProps {
  id: number;
  index: number;
  kept: KeptPoint | null;
  today: boolean; // the engine of today computed the point
}

/** Keeps the point's analyses as they are, or lets go of what is kept. */
function Keep({ id, index, kept, today }: KeepProps) {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async () => { await (kept ? letGoOfPoint(id, index) : keepPoint(id, index)); },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['point', id, index] });
      await queries.invalidateQueries({ queryKey: ['kept', id] });
    },
  });
  if (!kept && !today) return null;
  const press = () => { if (!kept || today || confirm(t('point.let_go_sure'))) change.mutate(); };
  return (
    <>
      {change.error && <ErrorBox error={change.error} />}
      <button type="button" title={t('point.keep_hint')} disabled={change.isPending} onClick={press}>{t(kept ? 'point.let_go' : 'point.keep')}</button>
    </>
  );
}
