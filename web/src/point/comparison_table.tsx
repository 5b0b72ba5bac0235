// The table of a comparison, like beside like, and where our machine loses.
import type { ComparisonRow, Loss } from '../api/types';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor, type Key } from '../i18n/i18n';
import { useFieldNames, useMachineTables } from '../ui/tables_gate';
import { groupsOf, lossesByMetric } from './comparison_rows';

/** Metrics, and values that only a comparison has. */
const columns = [
  'latency_s',
  'throughput_fps',
  'energy_j_per_frame',
  'design_energy_j_per_frame',
  'frames_per_j',
  'area_mm2',
  'fps_per_mm2',
  'price_usd',
  'utilization',
  'dram_bytes_per_frame',
  'dram_filled',
];

const checkedWords: Record<'here' | 'near' | 'unvalidated', Key> = { here: 'compare.checked_here', near: 'compare.checked_near', unvalidated: 'compare.unvalidated' };
const checkedNotes: Record<'here' | 'near' | 'unvalidated', Key> = { here: 'compare.checked_here_note', near: 'compare.checked_near_note', unvalidated: 'compare.checked_unvalidated_note' };

export function MainTable({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  return (
    <div className="plain-table" tabIndex={0} role="region" aria-label={t('compare.title')}>
      <table className="compare-table">
        <thead><Head /></thead>
        {groupsOf(rows).map(([group, members]) => (
          <tbody key={group}>
            <tr className="group"><th scope="rowgroup" colSpan={columns.length + 4}>{t(group)}</th></tr>
            {members.map((row) => <Row key={row.id} row={row} />)}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function Head() {
  const { language } = useSpeech();
  const tables = useMachineTables();
  const field = useFieldNames('ComparisonRow');
  return (
    <tr>
      <th scope="col">{field('name')}</th>
      <th scope="col">{field('format')}</th>
      {columns.map((name) => <th key={name} scope="col" title={tables.metric(name)?.doc[language]}>{tables.field('ComparedValues', name)?.doc[language] ?? name}</th>)}
      <th scope="col">{field('process')}</th>
      <th scope="col">{field('against')}</th>
    </tr>
  );
}

function Row({ row }: { row: ComparisonRow }) {
  const { t } = useSpeech();
  return (
    <tr className={row.id === 'sdip' ? 'own' : ''}>
      <th scope="row">
        {row.name} <span className={`badge ${row.kind}`}>{wordFor(t, 'compared', row.kind)}</span>
        {!row.feasible && <> <span className="badge state-failed">{t('compare.infeasible')}</span></>}
        {row.checked !== '' && <> <span className={`badge ${row.checked === 'unvalidated' ? 'unvalidated' : ''}`} title={t(checkedNotes[row.checked])}>{t(checkedWords[row.checked])}</span></>}
      </th>
      <td><span lang="en">{row.format}</span>{row.other_format && <small title={t('compare.other_format_note')}>{t('compare.other_format')}</small>}</td>
      {columns.map((name) => <Cell key={name} row={row} name={name} />)}
      <td lang="en">{row.process || '–'}</td>
      <td>{row.against === null ? '–' : `${plain(Number(row.against.toPrecision(3)), 3)}×`}</td>
    </tr>
  );
}

/** The columns that move with an area. */
const ofArea = ['energy_j_per_frame', 'frames_per_j'];

/** Says what an energy is of, and its parts. */
const energyText = (row: ComparisonRow) =>
  [row.energy, ...Object.entries(row.energy_parts_j).filter(([, joules]) => joules).map(([part, joules]) => `${part} ${quantity(joules, 'J', 3)}`)].join('\n');

/** A value, below it what it is with the software's factor, or what its energy has. */
function Cell({ row, name }: { row: ComparisonRow; name: string }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const value = row.values[name];
  if (name === 'dram_filled' && typeof value === 'number')
    return <td className={value > 1 ? 'exceeded' : ''}>{percent(value)}{value > 1 && <small> {t('compare.exceeded')}</small>}</td>;
  const calibrated = ['latency_s', 'throughput_fps', 'energy_j_per_frame'].includes(name) ? row.calibration?.values[name] : undefined;
  const unit = tables.unitOf(name);
  return (
    <td title={name === 'energy_j_per_frame' ? energyText(row) : undefined}>
      {quantity(value, unit, 3)}
      {typeof calibrated === 'number' && <small title={row.calibration?.software}>{t('compare.calibrated', { value: quantity(calibrated, unit, 3) })}</small>}
      {name === 'latency_s' && row.calibration && <small className="software" lang="en">{row.calibration.software}</small>}
      {ofArea.includes(name) && row.area_basis === 'lanes' && typeof value === 'number' && <small className="estimated" title={t('compare.estimated_note')}>{t('compare.estimated')}</small>}
      {name === 'energy_j_per_frame' && typeof value === 'number' && <small>{t(row.energy_has_dram ? 'compare.with_dram' : 'compare.without_dram')}</small>}
    </td>
  );
}

/** The meaning of every mark of the rows. */
export function Legend({ rows }: { rows: ComparisonRow[] }) {
  const { t } = useSpeech();
  const states = (['here', 'near', 'unvalidated'] as const).filter((one) => rows.some((row) => row.checked === one));
  const said: [Key, Key][] = states.map((one) => [checkedWords[one], checkedNotes[one]]);
  if (rows.some((row) => row.other_format)) said.push(['compare.other_format', 'compare.other_format_note']);
  if (rows.some((row) => row.area_basis === 'lanes')) said.push(['compare.estimated', 'compare.estimated_note']);
  return <ul className="notes muted">{said.map(([word, note]) => <li key={word}><strong>{t(word)}</strong>: {t(note)}</li>)}</ul>;
}

/** Who is better than each machine of ours, and by what: as the server compares them. */
export function Losses({ losses, ours }: { losses: Loss[]; ours: ComparisonRow[] }) {
  return <>{ours.map((row) => <LossesOf key={row.id} losses={losses.filter((one) => one.ours === row.id)} ours={row} />)}</>;
}

function LossesOf({ losses, ours }: { losses: Loss[]; ours: ComparisonRow }) {
  const { t } = useSpeech();
  const most = 5;
  const basis = (one: Loss) => [
    one.kind === 'roofline' ? t('compare.bound') : t(one.calibrated ? 'compare.is_calibrated' : 'compare.not_calibrated'),
    ...(one.checked === '' ? [] : [t(checkedWords[one.checked])]),
    ...(one.format === one.our_format ? [] : [t('compare.beside_format', { format: one.format, ours: one.our_format })]),
    ...(one.estimated ? [t('compare.estimated_area')] : []),
  ].join(', ');
  const name = ours.name;
  if (losses.length === 0) return <p className="muted">{t(ours.feasible ? 'compare.loses_nowhere' : 'compare.loses_unbuilt', { name })}</p>;
  return (
    <>
      <h3>{t('compare.loses', { name })}</h3>
      <ul className="notes">
        {lossesByMetric(losses).map(([metric, better]) => (
          <li key={metric}>
            <code>{metric}</code>: {better.slice(0, most).map((one) => `${one.name} ${plain(Number(one.times.toPrecision(3)), 3)}× (${basis(one)})`).join(', ')}
            {better.length > most && ` ${t('compare.and_more', { count: better.length - most })}`}
          </li>
        ))}
      </ul>
    </>
  );
}
