// One point of a sweep: where it comes from, and its whole analysis.
import { useState } from 'react';
import { Link } from 'wouter';
import { usePoint, useSweep } from '../api/queries';
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
  const [workload, setWorkload] = useState('');
  const error = sweep.error ?? point.error;
  if (error) return <ErrorBox error={error} retry={() => { void sweep.refetch(); void point.refetch(); }} />;
  if (!sweep.data || !point.data) return <Skeleton height={420} />;
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
          <Link className="button" href={`/what-if?${query}`}>{t('point.vary')}</Link>
          <Link className="button" href={`/validate?${query}`}>{t('nav.validate')}</Link>
          <Link className="button" href={`/compare?${query}`}>{t('nav.compare')}</Link>
        </div>
      </div>
      {formats && <Card title={t('sweep.formats')}><pre className="rules">{formats}</pre></Card>}
      {models.length > 1 && <Segments label={t('mix.workload')} value={model} onChange={setWorkload} items={models.map((one) => ({ id: one, label: one }))} />}
      <AnalysisView design={{ model, preset, machine: settings, ...said }} />
    </div>
  );
}
