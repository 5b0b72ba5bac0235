// Where formulas are added to a sweep: a name, a unit, what is computed and which end of it is better.
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState, type FormEvent, type ReactNode } from 'react';
import { answer, client, problemOf } from '../api/client';
import type { Metric, Sweep } from '../api/types';
import { useSpeech } from '../i18n/i18n';
import { setQuery, splitHash, useQueryState } from '../state/location';
import { MoreMetrics } from '../ui/tables_gate';
import { encodeFormulas, formulasOf, metricOf, parseFormulas, queryOf, type Formula } from './formulas';

/** A sweep's views with its formulas and those of the address among the metrics, and the field that adds more. */
export function WithFormulas({ sweep, children }: { sweep: Sweep; children: (formulas: string[]) => ReactNode }) {
  const [lines] = useQueryState('formulas', '');
  const formulas = useMemo(() => formulasOf(sweep, lines), [sweep.spec.metrics, sweep.objectives, lines]);
  const metrics = useMemo(() => formulas.map(metricOf), [formulas]);
  const asked = useMemo(() => formulas.filter((one) => !one.own).map(queryOf), [formulas]);
  return (
    <MoreMetrics metrics={metrics}>
      <FormulaField sweep={sweep.id} formulas={formulas} onChange={(next) => setQuery({ formulas: next || null, ...unused(formulas, next) })} />
      {children(asked)}
    </MoreMetrics>
  );
}

/** Resets what the address shows of a formula that is no longer there to its first choice. */
function unused(formulas: Formula[], lines: string): Record<string, null> {
  const left = new Set([...formulas.filter((one) => one.own), ...parseFormulas(lines)].map((one) => one.name));
  const gone = formulas.filter((one) => !left.has(one.name)).map((one) => one.name);
  const query = new URLSearchParams(splitHash(location.hash).search);
  const names = (key: string) => (query.get(key) ?? '').split(',').map((part) => part.replace(/^-/, '').replace(/[<>].*$/, ''));
  return Object.fromEntries(['x', 'y', 'colour', 'where', 'sort'].filter((key) => names(key).some((name) => gone.includes(name))).map((key) => [key, null]));
}

interface Props {
  sweep: number;
  formulas: Formula[];
  onChange: (lines: string) => void;
}

const empty: Formula = { name: '', unit: '', text: '', better: 'neither', own: false };

export function FormulaField({ sweep, formulas, onChange }: Props) {
  const { t } = useSpeech();
  const [draft, setDraft] = useState<Formula>(empty);
  const change = (part: Partial<Formula>) => setDraft({ ...draft, ...part });
  const added = formulas.filter((one) => !one.own);
  // The server reads the formula: it says what is wrong with it before it gets into the address.
  const add = useMutation({
    mutationFn: (formula: Formula) =>
      answer(client.GET('/api/v1/sweeps/{id}/points', { params: { path: { id: sweep }, query: { limit: 1, fields: formula.name, metric: [queryOf(formula)] } } })),
    onSuccess: (_, formula) => {
      onChange(encodeFormulas([...added.filter((one) => one.name !== formula.name), formula]));
      setDraft(empty);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate({ ...draft, name: draft.name.trim(), unit: draft.unit.trim(), text: draft.text.trim() });
  };
  const arrow = { higher: ' ↑', lower: ' ↓', neither: '' };
  return (
    <div className="constraints formulas">
      <form onSubmit={submit}>
        <span className="label">{t('formula.title')}</span>
        <input type="text" size={10} maxLength={64} value={draft.name} placeholder={t('formula.name')} aria-label={t('formula.name')} onChange={(event) => change({ name: event.target.value })} spellCheck={false} />
        <span aria-hidden="true">=</span>
        <input type="text" size={34} maxLength={1000} value={draft.text} placeholder="throughput_fps / power_w" aria-label={t('formula.text')} onChange={(event) => change({ text: event.target.value })} spellCheck={false} />
        <input type="text" size={7} maxLength={32} value={draft.unit} placeholder={t('formula.unit')} aria-label={t('formula.unit')} onChange={(event) => change({ unit: event.target.value })} spellCheck={false} />
        <select value={draft.better} aria-label={t('formula.better')} onChange={(event) => change({ better: event.target.value as Metric['better'] })}>
          <option value="neither">{t('formula.neither')}</option>
          <option value="higher">{t('formula.higher')}</option>
          <option value="lower">{t('formula.lower')}</option>
        </select>
        <button type="submit" disabled={draft.name.trim() === '' || draft.text.trim() === '' || add.isPending}>{t('formula.add')}</button>
      </form>
      {formulas.map((one) => (one.own
        ? <span key={one.name} className="chip" title={one.text}>{one.name}{arrow[one.better]}</span>
        : (
          <button key={one.name} type="button" className="chip" title={t('formula.remove', { name: one.name, text: one.text })} onClick={() => onChange(encodeFormulas(added.filter((other) => other !== one)))}>
            {one.name}{arrow[one.better]} <span aria-hidden="true">×</span>
          </button>
        )))}
      {add.isError && <p className="fault" role="alert" lang="en">{problemOf(add.error).detail}</p>}
    </div>
  );
}
