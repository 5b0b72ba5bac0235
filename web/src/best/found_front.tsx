// The front of a search for several objectives: a chart of the first two, and each machine as a row.
import { useCallback, useMemo } from 'react';
import type { SearchResult } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { KneeKey } from '../chart/knee_key';
import { Scatter, type AxisSpec } from '../chart/scatter';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useDark } from '../state/theme';
import { Card } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { useMachineTables } from '../ui/tables_gate';
import { headed, queryOfFound, type Asked } from './answer';
import { Differences } from './next_best';

interface Props {
  result: SearchResult;
  asked: Asked;
  chosen: number;
  onChoose: (at: number) => void;
}

interface Row {
  at: number;
}

export function FoundFront({ result, asked, chosen, onChoose }: Props) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const dark = useDark();
  const { best } = result;
  const [first, second] = [asked.metrics[0] ?? '', asked.metrics[1] ?? ''];
  const preset = tables.machineOf(asked.preset);
  const axis = (metric: string): AxisSpec => ({
    values: Float64Array.from(best, (one) => one.objectives[metric] ?? NaN), log: false, unit: tables.unitOf(metric), title: headed(metric, tables.unitOf(metric)),
  });
  const x = useMemo(() => axis(first), [best, first, tables]);
  const y = useMemo(() => axis(second), [best, second, tables]);
  const all = useMemo(() => best.map((_, i) => i), [best]);
  // Of more than two objectives the front is no line in the first two: then every machine is a dot alone.
  const line = asked.metrics.length === 2;
  const layers = useMemo(() => [new Uint32Array(), new Uint32Array(), new Uint32Array(), Uint32Array.from(all)], [all]);
  const knees = useMemo(() => new Set(all.filter((i) => (best[i]?.knee ?? 'none') !== 'none')), [all, best]);
  const text = (metric: string, i: number) => quantity(best[i]?.objectives[metric], tables.unitOf(metric));
  const hrefOf = useCallback((i: number) => { const one = best[i]; return one ? `#/what-if?${queryOfFound(asked, preset, one)}` : '#/'; }, [best, asked, preset]);
  const nameOf = useCallback((i: number) => asked.metrics.map((metric) => `${metric} ${text(metric, i)}`).join(', '), [best, asked, tables]);
  const rows = useMemo<Row[]>(() => all.map((at) => ({ at })), [all]);
  const columns = useMemo<Column<Row>[]>(() => [
    { id: 'at', title: t('best.machine_number'), width: 90, numeric: true, value: (row) => row.at + 1, show: (row) => <button type="button" className="quiet" aria-pressed={row.at === chosen} onClick={(event) => { event.stopPropagation(); onChoose(row.at); }}>{row.at + 1}</button> },
    ...asked.metrics.map((metric): Column<Row> => ({
      id: metric, title: metric, width: 130, numeric: true, value: (row) => best[row.at]?.objectives[metric], show: (row) => text(metric, row.at),
    })),
    { id: 'knee', title: t('front.knee_column'), width: 110, hint: t('front.knee_key'), value: (row) => best[row.at]?.knee ?? 'none', show: (row) => { const knee = best[row.at]?.knee ?? 'none'; return knee === 'none' ? '' : t(`knee.${knee}`); } },
    { id: 'differs', title: t('best.differs_before'), width: 420, sortable: false, value: (row) => best[row.at]?.differs.length, show: (row) => { const one = best[row.at]; return one ? <span className="clip"><Differences one={one} /></span> : null; } },
  ], [best, asked, chosen, t, tables]);
  return (
    <Card>
      <ChartFrame
        title={t('best.front')} note={t('best.front_found', { found: plain(result.found), shown: plain(best.length) })}
        table={() => ({ head: [t('best.machine_number'), ...asked.metrics], rows: all.map((i) => [String(i + 1), ...asked.metrics.map((metric) => text(metric, i))]) })}
      >
        <Scatter
          x={x} y={y} layers={layers} channels={null} front={line ? all : []} knees={knees} lowerX={!asked.most[0]} dark={dark}
          label={t('best.front_label', { x: first, y: second, count: plain(best.length) })} hrefOf={hrefOf} nameOf={nameOf} onOpen={onChoose}
          zoomHint={t('best.front_hint')} resetLabel={t('chart.reset_zoom')} emptyLabel={t('pareto.nothing_placed', { x: first, y: second })}
          describe={(i) => (
            <dl className="tip-facts">
              <dt>{t('best.machine_number')}</dt><dd>{i + 1}</dd>
              {asked.metrics.map((metric) => <Pair key={metric} name={metric} text={text(metric, i)} />)}
            </dl>
          )}
        />
        {line && <KneeKey count={knees.size} />}
      </ChartFrame>
      <DataTable label={t('best.front')} columns={columns} rows={rows} onRow={(row) => onChoose(row.at)} marked={(row) => row.at === chosen} height={280} />
    </Card>
  );
}

export const Pair = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </>
);
