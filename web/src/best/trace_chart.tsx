// The best so far over the machines evaluated, while a search runs and after.
import { useRef } from 'react';
import type { BestSoFar } from '../api/types';
import { Axes } from '../chart/axes';
import { ChartFrame } from '../chart/chart_frame';
import { extent, padded, place, type Scale } from '../chart/scale';
import { plain, quantity, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useSize } from '../ui/size';
import { stepsOf, tracePath } from './trace';

interface Props {
  trace: BestSoFar[];
  evaluated: number;
  metric: string;
  unit: string;
  /** Its words, where it is no search's. */
  words?: { title: string; note: string; counted: string };
}

const height = 200;
const margin = { left: 72, right: 20, top: 26, bottom: 42 };

export function TraceChart({ trace, evaluated, metric, unit, words }: Props) {
  const { t } = useSpeech();
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const steps = stepsOf(trace);
  const last = steps[steps.length - 1];
  const span = extent(steps.map((one) => one.value), false);
  const x: Scale = { log: false, domain: [0, Math.max(1, evaluated)], range: [margin.left, Math.max(margin.left + 10, width - margin.right)] };
  const y: Scale = { log: false, domain: padded(span ?? [0, 1], false, 0.08), range: [height - margin.bottom, margin.top] };
  const title = words?.title ?? t('best.trace');
  const counted = words?.counted ?? t('best.evaluated');
  const note = words?.note ?? (last ? t('best.trace_note', { value: quantity(last.value, unit), metric, steps: plain(steps.length) }) : t('best.trace_none'));
  return (
    <ChartFrame
      title={title} note={note}
      table={() => ({ head: [counted, `${metric}${unit ? ` [${unitName(unit)}]` : ''}`], rows: steps.map((one) => [plain(one.evaluated), quantity(one.value, unit)]) })}
    >
      <div ref={box} className="trace" style={{ height: last ? height : 0 }} role="img" aria-label={`${title}: ${note}`}>
        {width > 0 && last && (
          <svg width={width} height={height} aria-hidden="true">
            <Axes x={x} y={y} xUnit="" yUnit={unit} xTitle={counted} yTitle={`${metric}${unit ? ` [${unitName(unit)}]` : ''}`} yCount={4} />
            <path d={tracePath(steps, Math.max(evaluated, last.evaluated), (n) => place(x, n), (value) => place(y, value))} className="trace-line" />
            <circle cx={place(x, Math.max(evaluated, last.evaluated))} cy={place(y, last.value)} r={3.5} className="trace-end" />
          </svg>
        )}
      </div>
    </ChartFrame>
  );
}
