// The scatter of a sweep with its choices, and the front beside it as a table.
import { useMemo } from 'react';
import { useColumns } from '../api/queries';
import type { Columns, Sweep } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { Scatter, type AxisSpec } from '../chart/scatter';
import { admitted, colouring, drawingOrder, encodeConstraints, frontOf, numbersOf, parseConstraints } from '../chart/scatter_model';
import { cellText, plain, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { go, setQuery, useQueryState } from '../state/location';
import { useDark } from '../state/theme';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import { ColourKey } from './colour_key';
import { ColumnSelect } from './column_select';
import { Constraints } from './constraints';
import { axesOf, fieldsFor, firstAxes } from './fields';
import { FrontTable } from './front_table';

export function Pareto({ sweep, version }: { sweep: Sweep; version: number }) {
  const first = firstAxes(sweep.objectives);
  const swept = axesOf(sweep);
  const [x] = useQueryState('x', first.x);
  const [y] = useQueryState('y', first.y);
  const [colour] = useQueryState('colour', swept[0] ?? 'density');
  const [where] = useQueryState('where', '');
  const constraints = useMemo(() => parseConstraints(where), [where]);
  const fields = fieldsFor(sweep, x, y, colour, constraints);
  const columns = useColumns(sweep.id, fields, version);
  const { t } = useSpeech();
  if (columns.isError) return <ErrorBox error={columns.error} retry={() => void columns.refetch()} />;
  if (!columns.data) return version > 0 ? <Skeleton height={420} /> : <Empty title={t('sweep.no_points')} />;
  return <ParetoView sweep={sweep} columns={columns.data} x={x} y={y} colour={colour} where={where} />;
}

interface ViewProps {
  sweep: Sweep;
  columns: Columns;
  x: string;
  y: string;
  colour: string;
  where: string;
}

function ParetoView({ sweep, columns, x, y, colour, where }: ViewProps) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const dark = useDark();
  const swept = axesOf(sweep);
  const [logX] = useQueryState('logx', '0');
  const [logY] = useQueryState('logy', '0');
  const [grey] = useQueryState('infeasible', '0');
  const constraints = useMemo(() => parseConstraints(where), [where]);
  const axis = (name: string, log: boolean): AxisSpec => ({
    values: numbersOf(columns.columns[name], columns.count), log, unit: tables.unitOf(name),
    title: `${name}${tables.unitOf(name) ? ` [${unitName(tables.unitOf(name))}]` : ''}`,
  });
  const axisX = useMemo(() => axis(x, logX === '1'), [columns, x, logX]);
  const axisY = useMemo(() => axis(y, logY === '1'), [columns, y, logY]);
  const keep = useMemo(() => admitted(columns, constraints), [columns, constraints]);
  const paint = useMemo(() => colouring(columns.columns[colour], keep, columns.feasible, dark), [columns, colour, keep, dark]);
  const order = useMemo(() => drawingOrder(keep, columns.feasible, grey === '1'), [keep, columns, grey]);
  const better = (name: string) => tables.metric(name)?.better ?? 'neither';
  const front = useMemo(() => frontOf(axisX.values, axisY.values, better(x), better(y), keep), [axisX, axisY, keep]);

  const href = (i: number) => `/sweeps/${sweep.id}/points/${columns.index[i]}`;
  const fact = (name: string, i: number) => `${name} ${cellText(columns.columns[name]?.[i], tables.unitOf(name))}`;
  const met = useMemo(() => keep.reduce((sum, one) => sum + one, 0), [keep]);
  const infeasible = columns.count - columns.feasible.reduce((sum, one) => sum + one, 0);
  const inTip = [...new Set([y, x, ...(colour === 'density' ? [] : [colour]), ...swept])];
  return (
    <>
      <Card><ChartFrame
        title={t('pareto.title')}
        note={`${front.length > 0 || met === 0 ? t('pareto.note', { front: plain(front.length), points: plain(met), x, y }) : t('pareto.no_front')}${infeasible > 0 ? ` ${t('pareto.infeasible', { count: plain(infeasible) })}` : ''}`}
        table={() => ({ head: [t('table.point'), ...inTip], rows: front.map((i) => [String(columns.index[i]), ...inTip.map((name) => cellText(columns.columns[name]?.[i], tables.unitOf(name)))]) })}
      >
        <div className="chart-controls">
          <ColumnSelect label={t('chart.y')} value={y} axes={swept} onChange={(name) => setQuery({ y: name })} />
          <ColumnSelect label={t('chart.x')} value={x} axes={swept} onChange={(name) => setQuery({ x: name })} />
          <ColumnSelect label={t('chart.colour')} value={colour} axes={swept} onChange={(name) => setQuery({ colour: name })} extra={[{ id: 'density', label: t('chart.density') }]} />
          <Check label={t('chart.log_y')} on={logY === '1'} set={(on) => setQuery({ logy: on ? '1' : null })} />
          <Check label={t('chart.log_x')} on={logX === '1'} set={(on) => setQuery({ logx: on ? '1' : null })} />
          {/* An infeasible point has parameters but no metrics: only axes of parameters can show it. */}
          {swept.includes(x) && swept.includes(y) && <Check label={t('chart.infeasible')} on={grey === '1'} set={(on) => setQuery({ infeasible: on ? '1' : null })} />}
        </div>
        <Constraints constraints={constraints} met={met} of={columns.count} onChange={(next) => setQuery({ where: encodeConstraints(next) || null })} />
        <Scatter
          x={axisX} y={axisY} colours={paint.colours} byDensity={colour === 'density'} keep={keep} order={order} front={front} lowerX={better(x) === 'lower'} dark={dark}
          label={t('pareto.label', { y, x, count: plain(order.length), front: plain(front.length) })}
          hrefOf={(i) => `#${href(i)}`} onOpen={(i) => go(href(i))}
          nameOf={(i) => t('pareto.point', { index: columns.index[i] ?? 0, y: fact(y, i), x: fact(x, i) })}
          zoomHint={t('pareto.hint')} resetLabel={t('chart.reset_zoom')}
          describe={(i) => (
            <dl className="tip-facts">
              <dt>{t('table.point')}</dt><dd>{columns.index[i]}{columns.feasible[i] ? '' : ` · ${t('point.infeasible')}`}</dd>
              {inTip.map((name) => <Fact key={name} name={name} text={cellText(columns.columns[name]?.[i], tables.unitOf(name))} />)}
            </dl>
          )}
        />
        <ColourKey name={colour} paint={paint} unit={tables.unitOf(colour)} dark={dark} />
      </ChartFrame></Card>
      <FrontTable sweep={sweep} columns={columns} front={front} shown={inTip} />
    </>
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
