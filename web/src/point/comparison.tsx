// A design point against rooflines of other machines, each figure with its source and confidence.
import { useBaselines, useComparison, type Design } from '../api/queries';
import type { ComparisonRow, Field } from '../api/types';
import { plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { Outdated } from '../ui/outdated';
import { useMachineTables } from '../ui/tables_gate';

const compared = ['throughput_fps', 'latency_s', 'dram_bytes_per_frame'];

export function ComparisonTable({ design }: { design: Design }) {
  const { t } = useSpeech();
  const baselines = useBaselines();
  const comparison = useComparison(design, baselines.data?.map((one) => one.id) ?? []);
  const error = baselines.error ?? comparison.error;
  if (error) return <ErrorBox error={error} />;
  if (!comparison.data) return baselines.data?.length === 0 ? <Empty title={t('compare.none')} /> : <Skeleton height={260} />;
  const rows = comparison.data.rows;
  const own = rows.find((row) => row.kind !== 'roofline');
  return (
    <Outdated when={comparison.isPlaceholderData}>
      <Card title={t('compare.title')}>
        <p className="muted">{t('compare.note')}</p>
        <div className="plain-table" tabIndex={0} role="region" aria-label={t('compare.title')}>
          <table className="compare-table">
            <thead><Head /></thead>
            <tbody>{rows.map((row) => <Row key={row.id} row={row} own={own} />)}</tbody>
          </table>
        </div>
      </Card>
      <SpeedBars rows={rows} />
      <div className="two-charts">
        {rows.filter((row) => row.kind === 'roofline').map((row) => <Sources key={row.id} row={row} />)}
      </div>
    </Outdated>
  );
}

function Head() {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  return (
    <tr>
      <th scope="col">{t('compare.machine')}</th>
      {compared.map((name) => <th key={name} scope="col" title={tables.metric(name)?.doc[language]}>{name}</th>)}
      <th scope="col">{t('compare.compute')}</th>
      <th scope="col">{t('compare.memory')}</th>
      <th scope="col">{t('compare.against')}</th>
    </tr>
  );
}

function Row({ row, own }: { row: ComparisonRow; own: ComparisonRow | undefined }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const mine = own?.values.throughput_fps;
  const theirs = row.values.throughput_fps;
  const times = mine && theirs ? theirs / mine : null;
  return (
    <tr className={row === own ? 'own' : ''}>
      <th scope="row">{row.name} <span className={`badge ${row.kind}`}>{row.kind === 'roofline' ? t('compare.roofline_only') : t('compare.model')}</span></th>
      {compared.map((name) => <td key={name}>{quantity(row.values[name], tables.unitOf(name))}</td>)}
      <td>{quantity(row.compute_s, 's')}</td>
      <td>{quantity(row.memory_s, 's')}</td>
      <td>{row === own || times === null ? '–' : `${plain(Number(times.toPrecision(3)), 3)}×`}</td>
    </tr>
  );
}

/** Throughput side by side, on one scale. */
function SpeedBars({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  const most = Math.max(...rows.map((row) => row.values.throughput_fps ?? 0), 1e-12);
  return (
    <Card title={t('compare.throughput')}>
      <ul className="bars">
        {rows.map((row) => {
          const value = row.values.throughput_fps ?? 0;
          return (
            <li key={row.id}>
              <span className="bar-label">{row.name}</span>
              <span className="bar-track" aria-hidden="true"><span className={`bar-fill ${row.kind === 'roofline' ? 'hatched' : ''}`} style={{ width: `${(value / most) * 100}%` }} /></span>
              <span className="bar-value wide">{quantity(row.values.throughput_fps, 'frame/s', 3)}</span>
            </li>
          );
        })}
      </ul>
      <p className="chart-note">{t('compare.bars_note')}</p>
    </Card>
  );
}

function Sources({ row }: { row: ComparisonRow }) {
  const { t } = useSpeech();
  const value = (field: Field) => {
    const number = Number(field.value);
    return field.value.trim() !== '' && Number.isFinite(number) ? quantity(number, field.unit) : `${field.value} ${field.unit}`;
  };
  return (
    <Card title={t('compare.sources', { name: row.name })}>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('compare.sources', { name: row.name })}>
        <table>
          <thead><tr><th scope="col">{t('compare.figure')}</th><th scope="col">{t('machine.value')}</th><th scope="col">{t('compare.confidence')}</th><th scope="col">{t('compare.source')}</th></tr></thead>
          <tbody>
            {(row.fields ?? []).map((field) => (
              <tr key={field.name}>
                <th scope="row"><code>{field.name}</code></th>
                <td>{value(field)}</td>
                <td><span className={`badge confidence-${field.confidence}`}>{wordFor(t, 'confidence', field.confidence)}</span></td>
                <td className="muted" lang="en">{field.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(row.notes ?? []).length > 0 && <ul className="notes" lang="en">{[...new Set(row.notes)].map((note) => <li key={note}>{note}</li>)}</ul>}
    </Card>
  );
}
