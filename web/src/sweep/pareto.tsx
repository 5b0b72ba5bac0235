// The scatter of a sweep with its choices, and the front beside it as a table.
import { useCallback, useMemo, useState } from 'react';
import { useColumns } from '../api/queries';
import type { Columns, Sweep } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { KneeKey } from '../chart/knee_key';
import { kneesOf } from '../chart/knees';
import { Scatter, type AxisSpec } from '../chart/scatter';
import { admitted, colouring, encodeConstraints, frontOf, layersOf, numbersOf, parseConstraints, unplaced } from '../chart/scatter_model';
import { cellText, headed, plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { go, setQuery, useQueryState } from '../state/location';
import { useDark } from '../state/theme';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import { ColourKey } from './colour_key';
import { ColumnSelect } from './column_select';
import { Constraints } from './constraints';
import { axesOf, fieldsFor, firstAxes } from './fields';
import { constraintLimits, constraintQueries } from './formulas';
import { FrontTable } from './front_table';
import { Growth } from './growth';
import { NothingFeasible, Reasons } from './infeasible';

export function Pareto({ sweep, formulas, version }: { sweep: Sweep; formulas: string[]; version: number }) {
  const first = firstAxes(sweep.objectives);
  const swept = axesOf(sweep);
  const [x] = useQueryState('x', first.x);
  const [y] = useQueryState('y', first.y);
  const [colour] = useQueryState('colour', swept[0] ?? 'density');
  const [where] = useQueryState('where', '');
  const constraints = useMemo(() => parseConstraints(where), [where]);
  const fields = fieldsFor(sweep, x, y, colour, [...constraints, ...constraintLimits(sweep)]);
  const columns = useColumns(sweep.id, fields, [...formulas, ...constraintQueries(sweep)], version);
  const { t } = useSpeech();
  if (columns.isError) return <ErrorBox error={columns.error} retry={() => void columns.refetch()} />;
  if (!columns.data) return version > 0 ? <Skeleton height={420} /> : <Empty title={t('sweep.no_points')} />;
  // Other columns than those that are asked for would be an empty chart under their names.
  if (fields.some((name) => !(name in columns.data.columns))) return <Skeleton height={420} />;
  return <ParetoView sweep={sweep} version={version} columns={columns.data} x={x} y={y} colour={colour} where={where} />;
}

interface ViewProps {
  sweep: Sweep;
  version: number;
  columns: Columns;
  x: string;
  y: string;
  colour: string;
  where: string;
}

function ParetoView({ sweep, version, columns, x, y, colour, where }: ViewProps) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const dark = useDark();
  const swept = axesOf(sweep);
  const [logX] = useQueryState('logx', '0');
  const [logY] = useQueryState('logy', '0');
  const [logColour] = useQueryState('logc', '0');
  const [grey] = useQueryState('infeasible', '0');
  const constraints = useMemo(() => parseConstraints(where), [where]);
  const axis = (name: string, log: boolean): AxisSpec => ({
    values: numbersOf(columns.columns[name], columns.count), log, unit: tables.unitOf(name),
    title: headed(name, tables.unitOf(name)),
  });
  const axisX = useMemo(() => axis(x, logX === '1'), [columns, x, logX]);
  const axisY = useMemo(() => axis(y, logY === '1'), [columns, y, logY]);
  const keep = useMemo(() => admitted(columns, [...constraints, ...constraintLimits(sweep)]), [columns, constraints, sweep.spec.constraints]);
  const byDensity = colour === 'density';
  const paint = useMemo(
    () => colouring(columns.columns[colour], columns.feasible, logColour === '1', dark, tables.parameter(colour)?.choices),
    [columns, colour, logColour, dark, tables],
  );
  // An infeasible point has parameters but no metrics: only axes of parameters can show it.
  const parametric = swept.includes(x) && swept.includes(y);
  const layers = useMemo(
    () => layersOf(keep, columns.feasible, byDensity ? keep : paint.coloured, grey === '1' && parametric), [keep, columns, paint, byDensity, grey, parametric],
  );
  const drawn = layers.reduce((sum, layer) => sum + layer.length, 0);
  const off = useMemo(() => unplaced(axisX.values, axisX.log, axisY.values, axisY.log, layers), [axisX, axisY, layers]);
  const better = (name: string) => tables.metric(name)?.better ?? 'neither';
  const front = useMemo(() => frontOf(axisX.values, axisY.values, better(x), better(y), keep), [axisX, axisY, keep]);
  const knees = useMemo(() => kneesOf(axisX.values, axisY.values, better(x), better(y), front), [axisX, axisY, front]);
  const marked = useMemo(() => new Set(front.filter((_, k) => knees[k] !== 'none')), [front, knees]);

  const href = (i: number) => `/sweeps/${sweep.id}/points/${columns.index[i]}`;
  const fact = (name: string, i: number) => `${name} ${cellText(columns.columns[name]?.[i], tables.unitOf(name))}`;
  const linkOf = useCallback((i: number) => `#${href(i)}`, [sweep.id, columns]);
  const nameOf = useCallback((i: number) => t('pareto.point', { index: columns.index[i] ?? 0, y: fact(y, i), x: fact(x, i) }), [columns, x, y, t, tables]);
  const met = useMemo(() => keep.reduce((sum, one) => sum + one, 0), [keep]);
  const infeasible = columns.count - columns.feasible.reduce((sum, one) => sum + one, 0);
  const inTip = [...new Set([y, x, ...(byDensity ? [] : [colour]), ...swept])];
  if (columns.count > 0 && infeasible === columns.count && !parametric) return <NothingFeasible sweep={sweep} version={version} points={columns.count} />;
  return (
    <>
      <Card><ChartFrame
        title={t('pareto.title')}
        note={`${front.length > 0 || met === 0 ? t('pareto.note', { front: plain(front.length), points: plain(met), x, y }) : t('pareto.no_front')}${infeasible > 0 ? ` ${t('pareto.infeasible', { count: plain(infeasible) })}` : ''}${off > 0 ? ` ${t('pareto.off', { count: plain(off) })}` : ''}`}
        table={() => ({ head: [t('table.point'), ...inTip], rows: front.map((i) => [String(columns.index[i]), ...inTip.map((name) => cellText(columns.columns[name]?.[i], tables.unitOf(name)))]) })}
      >
        <div className="chart-controls">
          <ColumnSelect label={t('chart.y')} value={y} axes={swept} onChange={(name) => setQuery({ y: name })} />
          <ColumnSelect label={t('chart.x')} value={x} axes={swept} onChange={(name) => setQuery({ x: name })} />
          <ColumnSelect label={t('chart.colour')} value={colour} axes={swept} onChange={(name) => setQuery({ colour: name })} extra={[{ id: 'density', label: t('chart.density') }]} />
          <Check label={t('chart.log_y')} on={logY === '1'} set={(on) => setQuery({ logy: on ? '1' : null })} />
          <Check label={t('chart.log_x')} on={logX === '1'} set={(on) => setQuery({ logx: on ? '1' : null })} />
          {!byDensity && paint.names.length === 0 && <Check label={t('chart.log_colour')} on={logColour === '1'} set={(on) => setQuery({ logc: on ? '1' : null })} />}
          {parametric && <Check label={t('chart.infeasible')} on={grey === '1'} set={(on) => setQuery({ infeasible: on ? '1' : null })} />}
        </div>
        <Constraints constraints={constraints} own={sweep.spec.constraints ?? []} met={met} of={columns.count} onChange={(next) => setQuery({ where: encodeConstraints(next) || null })} />
        <Scatter
          x={axisX} y={axisY} layers={layers} channels={byDensity ? null : paint.channels} front={front} knees={marked} lowerX={better(x) === 'lower'} dark={dark}
          label={t('pareto.label', { y, x, count: plain(drawn - off), front: plain(front.length) })}
          hrefOf={linkOf} nameOf={nameOf} onOpen={(i) => go(href(i))}
          zoomHint={t('pareto.hint')} resetLabel={t('chart.reset_zoom')} emptyLabel={t('pareto.nothing_placed', { x, y })}
          describe={(i, others) => (
            <>
              <dl className="tip-facts">
                <dt>{t('table.point')}</dt><dd data-point={columns.index[i]}>{columns.index[i]}{columns.feasible[i] ? keep[i] ? '' : ` · ${t('pareto.ruled_out')}` : ` · ${t('point.infeasible')}`}</dd>
                {inTip.map((name) => <Fact key={name} name={name} text={cellText(columns.columns[name]?.[i], tables.unitOf(name))} />)}
              </dl>
              {others.length > 0 && <p className="tip-others">{t('pareto.others', { count: others.length, list: others.slice(0, mostOthers).map((k) => columns.index[k]).join(', ') + (others.length > mostOthers ? ' …' : '') })}</p>}
            </>
          )}
        />
        <KneeKey count={marked.size} />
        <ColourKey name={colour} paint={paint} unit={tables.unitOf(colour)} dark={dark} ruledOut={layers[1]?.length ?? 0} blank={byDensity ? 0 : layers[2]?.length ?? 0} infeasible={layers[0]?.length ?? 0} />
        {infeasible > 0 && <WhyInfeasible sweep={sweep} version={version} count={infeasible} />}
      </ChartFrame></Card>
      <FrontTable sweep={sweep} columns={columns} front={front} knees={knees} shown={inTip} swept={swept} />
      <Growth sweep={sweep} version={version} />
    </>
  );
}

const mostOthers = 8;

/** The reasons are asked for when somebody wants to see them. */
function WhyInfeasible({ sweep, version, count }: { sweep: Sweep; version: number; count: number }) {
  const { t } = useSpeech();
  const [open, setOpen] = useState(false);
  return (
    <details className="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('infeasible.why', { count: plain(count) })}</summary>
      {open && <Reasons sweep={sweep} version={version} />}
    </details>
  );
}

const Fact = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </>
);

export const Check = ({ label, on, set }: { label: string; on: boolean; set: (on: boolean) => void }) => (
  <label className="check">
    <input type="checkbox" checked={on} onChange={(event) => set(event.target.checked)} />
    {label}
  </label>
);
