// A front of machines, each a mark by the first two objectives; where there are no more, a line joins them.
import { useCallback, useMemo } from 'react';
import type { Goal } from '../best/draft';
import { headed, plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useDark } from '../state/theme';
import { useMachineTables } from '../ui/tables_gate';
import { ChartFrame } from './chart_frame';
import { KneeKey } from './knee_key';
import { Scatter, type AxisSpec } from './scatter';

interface Placed {
  objectives: Record<string, number | null>;
  knee?: 'none' | 'local' | 'greatest' | undefined;
}

interface Props {
  title: string;
  note: string;
  points: Placed[];
  goals: Goal[]; // two at least
  head: string[]; // what names a point is called
  namesOf: (at: number) => string[];
  hint: string;
  hrefOf: (at: number) => string;
  onOpen: (at: number) => void;
}

export function FrontChart({ title, note, points, goals, head, namesOf, hint, hrefOf, onOpen }: Props) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const dark = useDark();
  const [first, second] = [goals[0]?.metric ?? '', goals[1]?.metric ?? ''];
  const axis = (metric: string): AxisSpec => {
    const unit = tables.unitOf(metric);
    return { values: Float64Array.from(points, (one) => one.objectives[metric] ?? NaN), log: false, unit, title: headed(metric, unit) };
  };
  const x = useMemo(() => axis(first), [points, first, tables]);
  const y = useMemo(() => axis(second), [points, second, tables]);
  const all = useMemo(() => points.map((_, i) => i), [points]);
  const layers = useMemo(() => [new Uint32Array(), new Uint32Array(), new Uint32Array(), Uint32Array.from(all)], [all]);
  const knees = useMemo(() => new Set(all.filter((i) => (points[i]?.knee ?? 'none') !== 'none')), [all, points]);
  // With more than two objectives the front is no line in the first two: then every machine is a dot alone.
  const line = goals.length === 2;
  const text = (metric: string, i: number) => quantity(points[i]?.objectives[metric] ?? undefined, tables.unitOf(metric));
  const nameOf = useCallback((i: number) => [namesOf(i).join(' '), ...goals.map(({ metric }) => `${metric} ${text(metric, i)}`)].join(', '), [points, goals, namesOf, tables]);
  return (
    <ChartFrame
      title={title} note={note}
      table={() => ({ head: [...head, ...goals.map((goal) => goal.metric)], rows: all.map((i) => [...namesOf(i), ...goals.map(({ metric }) => text(metric, i))]) })}
    >
      <Scatter
        x={x} y={y} layers={layers} channels={null} front={line ? all : []} knees={knees} lowerX={!goals[0]?.most} dark={dark}
        label={t('best.front_label', { x: first, y: second, count: plain(points.length) })} hrefOf={hrefOf} nameOf={nameOf} onOpen={onOpen}
        zoomHint={hint} resetLabel={t('chart.reset_zoom')} emptyLabel={t('pareto.nothing_placed', { x: first, y: second })}
        describe={(i) => (
          <dl className="tip-facts">
            {head.map((name, k) => <Pair key={name} name={name} text={namesOf(i)[k] ?? ''} />)}
            {goals.map(({ metric }) => <Pair key={metric} name={metric} text={text(metric, i)} />)}
          </dl>
        )}
      />
      {line && <KneeKey count={knees.size} />}
    </ChartFrame>
  );
}

const Pair = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </>
);
