// The menu of a sweep's page that makes another sweep of it: the same, with more, with less, or tried again.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link, useLocation } from 'wouter';
import { answer, client } from '../api/client';
import type { RevisionRequest, Sweep } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { ErrorBox, Segments } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';
import { emptyDraft, revisionKinds, revisionRequest, valuesOf, type RevisionDraft, type RevisionKind } from './revision';

export function Revise({ sweep }: { sweep: Sweep }) {
  const { t } = useSpeech();
  const [open, setOpen] = useState(false);
  return (
    <details className="revise" open={open} onToggle={(event) => setOpen(event.currentTarget.open)} onKeyDown={(event) => { if (event.key === 'Escape') setOpen(false); }}>
      <summary className="button">{t('revise.title')}</summary>
      {open && <TablesGate><Form sweep={sweep} onDone={() => setOpen(false)} /></TablesGate>}
    </details>
  );
}

function Form({ sweep, onDone }: { sweep: Sweep; onDone: () => void }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<RevisionDraft>(emptyDraft);
  const parameter = tables.parameter(draft.parameter);
  const result = revisionRequest(draft, parameter);
  const change = (part: Partial<RevisionDraft>) => setDraft((before) => ({ ...before, ...part }));
  const choose = (kind: RevisionKind, name: string) => change({ kind, parameter: name, values: valuesOf(sweep, kind, tables.parameter(name)) });
  const make = useMutation({
    mutationFn: (body: RevisionRequest) => answer(client.POST('/api/v1/sweeps/{id}/revisions', { params: { path: { id: sweep.id } }, body })),
    onSuccess: async (made) => { onDone(); navigate(`/sweeps/${made.id}`); await queries.invalidateQueries({ queryKey: ['sweeps'] }); },
  });
  const submit = (event: FormEvent) => { event.preventDefault(); if (result && 'request' in result) make.mutate(result.request); };
  const swept = sweep.spec.axes.map((axis) => axis.parameter as string);
  const others = draft.kind === 'extend' ? tables.parameters.map((one) => one.name).filter((name) => !swept.includes(name)) : [];
  const shaped = draft.kind === 'extend' || draft.kind === 'narrow';
  return (
    <form className="revise-form" onSubmit={submit}>
      <Segments
        label={t('revise.kind')} value={draft.kind} onChange={(kind) => choose(kind as RevisionKind, '')}
        items={revisionKinds.map((kind) => ({ id: kind, label: wordFor(t, 'revise', kind) }))}
      />
      <p className="muted">{wordFor(t, 'revised', draft.kind)}</p>
      {shaped && (
        <div className="row">
          <label className="inline">
            <span>{t('revise.axis')}</span>
            <select value={draft.parameter} aria-label={t('revise.axis')} onChange={(event) => choose(draft.kind, event.target.value)}>
              <option value="">–</option>
              <optgroup label={t('sweep.axes')}>{swept.map((name) => <option key={name}>{name}</option>)}</optgroup>
              {others.length > 0 && <optgroup label={t('revise.others')}>{others.map((name) => <option key={name}>{name}</option>)}</optgroup>}
            </select>
          </label>
          {parameter && (
            <label className="inline grow">
              <span>{t(draft.kind === 'extend' ? 'revise.values_more' : 'revise.values_kept')}</span>
              <input type="text" value={draft.values} maxLength={20_000} spellCheck={false} onChange={(event) => change({ values: event.target.value })} />
            </label>
          )}
        </div>
      )}
      {draft.kind === 'extend' && sweep.spec.sampling !== undefined && sweep.spec.sampling !== 'grid' && (
        <label className="inline">
          <span>{t('revise.count')}</span>
          <input type="number" min={1} value={draft.count} onChange={(event) => change({ count: event.target.value })} />
        </label>
      )}
      {draft.kind === 'narrow' && (
        <label className="inline">
          <span>{t('revise.constraint')}</span>
          <input type="text" className="wide" value={draft.constraint} maxLength={900} placeholder="area_mm2 <= 100" spellCheck={false} onChange={(event) => change({ constraint: event.target.value })} />
        </label>
      )}
      {result && 'fault' in result && <p className="fault" role="alert">{t(result.fault.key, result.fault.values)}</p>}
      <div className="row">
        <label className="inline grow">
          <span>{t('revise.name')}</span>
          <input type="text" value={draft.name} maxLength={60} placeholder={sweep.name} onChange={(event) => change({ name: event.target.value })} />
        </label>
        <button type="submit" className="primary" disabled={!result || 'fault' in result || make.isPending} data-action="revise">{t('revise.start')}</button>
      </div>
      {make.error && <ErrorBox error={make.error} />}
    </form>
  );
}

/** Which sweep it was made of, and how. */
export function Origin({ sweep }: { sweep: Sweep }) {
  const { t } = useSpeech();
  if (sweep.parent === null || sweep.change === null) return null;
  const axes = (sweep.change.axes ?? []).map((axis) => `${axis.parameter} ${(axis.values ?? []).join(', ')}`);
  const count = sweep.change.count === undefined ? [] : [t('sweep.points', { count: plain(sweep.change.count) })];
  const what = [...axes, ...count, ...(sweep.change.constraints ?? [])].join('; ');
  return (
    <div data-origin>
      <dt>{t('revise.origin')}</dt>
      <dd>
        <Link href={`/sweeps/${sweep.parent}`}>{t('sweep.number', { id: sweep.parent })}</Link> · {wordFor(t, 'revise', sweep.change.kind)}{what !== '' && <> · {what}</>} · {t('revise.taken', { count: plain(sweep.taken) })}
      </dd>
    </div>
  );
}
