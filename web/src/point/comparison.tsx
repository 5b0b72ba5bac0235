// A design point beside published machines: predicted by models of their kinds, or bounded, with what was measured.
import { useBaselines, useComparison, type Design } from '../api/queries';
import type { ComparisonRow, Field } from '../api/types';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { useQueryState } from '../state/location';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { Outdated } from '../ui/outdated';
import { useFieldNames, useMachineTables } from '../ui/tables_gate';
import { Legend, Losses, MainTable } from './comparison_table';
import { groupsOf, likely } from './comparison_rows';

export function ComparisonTable({ design }: { design: Design }) {
  const { t } = useSpeech();
  const field = useFieldNames('ComparisonRow');
  const [asked, setAsked] = useQueryState('frames', '1');
  const [askedNode, setNode] = useQueryState('node', '');
  const nodes = useMachineTables().parameter('technology_node')?.choices.filter((one) => !one.startsWith('fpga')) ?? [];
  const node = nodes.includes(askedNode) ? askedNode : '';
  const baselines = useBaselines();
  const comparison = useComparison(design, baselines.data?.map((one) => one.id) ?? [], node);
  const error = baselines.error ?? comparison.error;
  if (error) return <ErrorBox error={error} />;
  if (!comparison.data) return baselines.data?.length === 0 ? <Empty title={t('compare.none')} /> : <Skeleton height={260} />;
  const batches = [...new Set(comparison.data.rows.map((row) => row.batch))];
  const batch = batches.includes(Number(asked)) ? Number(asked) : batches[0];
  const rows = comparison.data.rows.filter((row) => row.batch === batch && row.kind !== 'unpublished');
  const unpublished = comparison.data.rows.filter((row) => row.batch === batch && row.kind === 'unpublished');
  return (
    <Outdated when={comparison.isPlaceholderData}>
      <Card title={t('compare.title')}>
        <p className="muted">{t('compare.note')}</p>
        <label className="inline">{field('batch')} <select value={batch} onChange={(event) => setAsked(event.target.value)}>{batches.map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        {' '}
        <label className="inline">{t('compare.node')} <select value={node} onChange={(event) => setNode(event.target.value)}><option value="">{t('compare.own_node')}</option>{nodes.map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        {node !== '' && <p className="muted">{t('compare.node_note', { node })}</p>}
        <MainTable rows={rows} />
        <Legend rows={rows} />
        <Losses losses={comparison.data.losses.filter((one) => one.batch === batch)} ours={rows.filter((row) => row.kind === 'model' && !row.id.startsWith('stream:'))} />
        {unpublished.length > 0 && <p className="muted">{t('compare.unpublished', { names: unpublished.map((row) => row.name).join(', ') })}</p>}
      </Card>
      <SpeedBars rows={rows} />
      <Measured rows={rows} />
      <Architectures rows={[...rows.filter(isMachine), ...unpublished]} />
      <Card title={t('compare.all_sources')}>
        {[...rows, ...unpublished].filter((row) => row.kind !== 'model' && !row.id.startsWith('bound:')).map((row) => <Sources key={row.id} row={row} />)}
      </Card>
    </Outdated>
  );
}

/** Neither a result measured nor a bound of ours, which is a machine's second row. */
const isMachine = (row: ComparisonRow) => row.kind !== 'measured' && !row.id.startsWith('bound:');

/** Throughput side by side, on one scale; calibrated where it can be. */
function SpeedBars({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  const speed = (row: ComparisonRow) => likely(row, 'throughput_fps') ?? 0;
  const most = Math.max(...rows.map(speed), 1e-12);
  return (
    <Card title={t('compare.throughput')}>
      {groupsOf(rows).map(([group, members]) => (
        <div key={group}>
          <h3>{t(group)}</h3>
          <ul className="bars">
            {[...members].sort((a, b) => speed(b) - speed(a)).map((row) => (
              <li key={row.id}>
                <span className="bar-label">{row.name}</span>
                <span className="bar-track" aria-hidden="true"><span className={`bar-fill ${row.kind === 'roofline' ? 'hatched' : ''}`} style={{ width: `${(speed(row) / most) * 100}%` }} /></span>
                <span className="bar-value wide">{quantity(speed(row), 'frame/s', 3)}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p className="chart-note">{t('compare.bars_note')}</p>
    </Card>
  );
}

/** Measurements of the devices, beside what their models say: one point of a software is fitted, the others show the error. */
function Measured({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  const field = useFieldNames('ComparisonRow'), point = useFieldNames('MeasuredBeside'), figure = useFieldNames('Field');
  const heads = [field('name'), point('software'), field('format'), point('model'), field('batch'), point('measured_s'), point('predicted_s'), point('factor'), point('error'), figure('source')];
  const lines = rows.flatMap((row) => row.measured.map((one) => ({ row, one })));
  if (lines.length === 0) return null;
  return (
    <Card title={field('measured')}>
      <p className="muted">{t('compare.measured_note')}</p>
      <div className="plain-table" tabIndex={0} role="region" aria-label={field('measured')}>
        <table>
          <thead>
            <tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr>
          </thead>
          <tbody>
            {lines.map(({ row, one }) => (
              <tr key={`${row.id} ${one.id}`}>
                <th scope="row">{row.name}</th>
                <td lang="en">{one.software}</td>
                <td lang="en">{one.format}</td>
                <td>{one.model}{one.stage !== 'all' && ` ${one.stage}`}</td>
                <td>{one.batch}</td>
                <td>{quantity(one.measured_s, 's')}</td>
                <td>{quantity(one.predicted_s, 's')}</td>
                <td>{plain(Number(one.factor.toPrecision(3)), 3)}×</td>
                <td>{one.fitted ? t('compare.fitted') : `${one.error > 0 ? '+' : ''}${percent(one.error)}`}</td>
                <td className="muted" lang="en">{one.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** How each machine is built: control, caches, ways between cores. */
function Architectures({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  const word = useFieldNames('ComparisonRow');
  const field = (row: ComparisonRow, ...names: string[]) => {
    const found = names.map((name) => row.fields.find((one) => one.name === name)).find((one) => one !== undefined);
    return found ? `${found.value} ${found.unit}`.trim() : '–';
  };
  return (
    <Card title={t('compare.built')}>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('compare.built')}>
        <table>
          <thead><tr><th scope="col">{word('name')}</th>{(['compare.control', 'compare.cache', 'compare.between', 'compare.lanes', 'compare.sram'] as const).map((key) => <th key={key} scope="col">{t(key)}</th>)}</tr></thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id} lang="en">
                <th scope="row">{row.name}</th>
                <td>{field(row, 'control')}</td>
                <td>{field(row, 'cache')}</td>
                <td>{field(row, 'interconnect', 'communication')}</td>
                <td>{field(row, 'compute', 'cores')}</td>
                <td>{field(row, 'on-chip SRAM')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Sources({ row }: { row: ComparisonRow }) {
  const { t } = useSpeech();
  const name = useFieldNames('Field');
  const value = (field: Field) => {
    const number = Number(field.value);
    return field.value.trim() !== '' && Number.isFinite(number) ? quantity(number, field.unit) : `${field.value} ${field.unit}`;
  };
  return (
    <details>
      <summary>{t('compare.sources', { name: row.name })}</summary>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('compare.sources', { name: row.name })}>
        <table>
          <thead><tr>{(['name', 'value', 'confidence', 'source'] as const).map((one) => <th key={one} scope="col">{name(one)}</th>)}</tr></thead>
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
    </details>
  );
}
