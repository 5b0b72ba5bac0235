// Effects of each single change of the machine on each metric, and the cheapest that moves the bottleneck.
import { useMemo } from 'react';
import { useSensitivities, type Design } from '../api/queries';
import type { ParameterValue, Sensitivities } from '../api/types';
import { movedText, noDifferenceText } from '../format/change';
import { plain } from '../format/quantity';
import { useSpeech, wordFor, type Key } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton, Swatch } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { changeRows, type ChangeRow } from './change_rows';

const shown = ['throughput_fps', 'latency_s', 'energy_j_per_frame', 'dram_bytes_per_frame', 'area_mm2'];
const mostSuggested = 5;

type Apply = (name: string, value: ParameterValue) => void;

export function SingleChanges({ design, onChange }: { design: Design; onChange: Apply }) {
  const { t } = useSpeech();
  const answer = useSensitivities(design);
  if (answer.isError) return <ErrorBox error={answer.error} />;
  if (answer.isPending) return <Card><p role="status" className="muted">{t('explain.changes_wait')}</p><Skeleton height={240} /></Card>;
  return <Answered answer={answer.data} onChange={onChange} />;
}

function Answered({ answer, onChange }: { answer: Sensitivities; onChange: Apply }) {
  const { t } = useSpeech();
  const rows = useMemo(() => changeRows(answer), [answer]);
  return (
    <div className="changes">
      <div className="two-charts">
        <Cheapest title="explain.cheapest_moves" places={answer.moves_bottleneck} idle={answer.moves_without_gain} rows={rows} onChange={onChange} />
        <Cheapest title="explain.cheapest_more" places={answer.more_frames} rows={rows} onChange={onChange} />
      </div>
      <p className="chart-note">{t('explain.cheapest_note')}</p>
      <ChangeTable rows={rows} limiter={answer.limiter} pace={answer.pace} />
      <WithoutStep answer={answer} />
    </div>
  );
}

/** The parameters that no change is tried of, by reason. */
function WithoutStep({ answer }: { answer: Sensitivities }) {
  const { t } = useSpeech();
  const reasons = [...new Set(answer.without_step.map((one) => one.reason))];
  return reasons.map((reason) => (
    <p key={reason} className="chart-note">
      {t('explain.without_step', { reason: wordFor(t, 'stepless', reason) })} {answer.without_step.filter((one) => one.reason === reason).map((one) => one.parameter).join(', ')}
    </p>
  ));
}

interface CheapestProps { title: Key; places: number[]; idle?: number[]; rows: ChangeRow[]; onChange: Apply }

function Cheapest({ title, places, idle = [], rows, onChange }: CheapestProps) {
  const { t } = useSpeech();
  const first = (of: number[]) => of.slice(0, mostSuggested).flatMap((place) => rows.find((row) => row.place === place) ?? []);
  const found = first(places);
  return (
    <Card title={t(title)}>
      {found.length === 0 && <p className="muted">{t('explain.none')}</p>}
      <ol className="cheapest">
        {found.map((row) => (
          <li key={row.place}>
            <code>{row.parameter}</code> <span>{t('explain.step', { from: String(row.from), to: String(row.to) })}</span>
            <span className="muted">
              {t('breakdown.area')} {row.kind === 'unpriced' ? t('explain.no_area') : movedText(row.moved.area_mm2)} · fps {movedText(row.moved.throughput_fps)} · {t('explain.then')}: {wordFor(t, 'limiter', row.limiter)}
            </span>
            <button type="button" className="quiet" aria-label={t('explain.apply_of', { name: row.parameter, value: String(row.to) })} onClick={() => onChange(row.parameter, row.to)}>
              {t('explain.apply')}
            </button>
          </li>
        ))}
      </ol>
      {idle.length > 0 && (
        <p className="chart-note">{t('explain.idle_moves')} {first(idle).map((row) => `${row.parameter} ${String(row.to)}`).join(', ')}</p>
      )}
    </Card>
  );
}

function ChangeTable({ rows, limiter, pace }: { rows: ChangeRow[]; limiter: string; pace: string }) {
  const { t } = useSpeech();
  const columns = useMemo<Column<ChangeRow>[]>(() => [
    { id: 'parameter', title: t('machine.parameter'), width: 190, value: (row) => row.parameter, show: (row) => <code>{row.parameter}</code> },
    { id: 'change', title: t('explain.change'), width: 170, value: (row) => String(row.to), show: (row) => <span className="clip" title={t('explain.step', { from: String(row.from), to: String(row.to) })}>{t('explain.step', { from: String(row.from), to: String(row.to) })}</span> },
    { id: 'kind', title: t('explain.kind'), width: 120, value: (row) => row.kind, show: (row) => wordFor(t, 'kind', row.kind) },
    ...shown.map((name): Column<ChangeRow> => ({
      id: name, title: name, width: 108, numeric: true, value: (row) => row.moved[name], show: (row) => movedText(row.moved[name]),
    })),
    { id: 'elasticity', title: t('explain.elasticity'), hint: t('explain.elasticity_hint'), width: 96, numeric: true, value: (row) => elasticity(row), show: (row) => shownElasticity(elasticity(row)) },
    { id: 'limiter', title: t('explain.then'), width: 150, value: (row) => row.limiter, show: (row) => <Then row={row} limiter={limiter} pace={pace} /> },
  ], [t, limiter, pace]);
  return (
    <Card title={t('explain.changes')}>
      <p className="chart-note">{t('explain.changes_note')} {t('explain.no_difference', { share: noDifferenceText })}</p>
      <DataTable label={t('explain.changes')} columns={columns} rows={rows} height={520} />
    </Card>
  );
}

const elasticity = (row: ChangeRow): number | null => (row.elasticities as Record<string, number | null>).throughput_fps ?? null;
const shownElasticity = (value: number | null) => (value === null ? '–' : plain(Number(value.toFixed(3)), 3));

function Then({ row, limiter, pace }: { row: ChangeRow; limiter: string; pace: string }) {
  const { t } = useSpeech();
  if (!row.feasible) return <span className="clip" lang="en" title={row.reason}>{t('explain.impossible')}: {row.reason}</span>;
  if (row.limiter === limiter && row.pace === pace) return null;
  return <><Swatch name={row.limiter} /> {wordFor(t, 'limiter', row.limiter)}</>;
}
