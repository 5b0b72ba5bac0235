// One memory over the program: a box for each value, address by time. Arrow keys go from box to box.
import { useMemo, useRef, useState } from 'react';
import type { MemoryRectangle } from '../api/types';
import { useSize } from '../ui/size';
import { boxAt, boxesOf, inOrder, moved, shadeOf } from './address_map';
import { Axes } from './axes';
import { place, type Scale } from './scale';

interface Props {
  rectangles: MemoryRectangle[];
  cycles: number;
  capacity: number;
  colour: string;
  label: string;
  describe: (one: MemoryRectangle) => string;
}

const margin = { left: 78, right: 16, top: 6, bottom: 24 };
const chartHeight = 150;

export function AddressChart({ rectangles, cycles, capacity, colour, label, describe }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const { width } = useSize(frame);
  const [chosen, setChosen] = useState<number | null>(null);
  const sorted = useMemo(() => inOrder(rectangles), [rectangles]);
  const peak = useMemo(() => sorted.reduce((most, one) => Math.max(most, one.address + one.bytes), 1), [sorted]);
  const bottom = chartHeight - margin.bottom;
  const x: Scale = { log: false, domain: [0, Math.max(1, cycles)], range: [margin.left, Math.max(margin.left + 10, width - margin.right)] };
  const y: Scale = { log: false, domain: [0, capacity < peak * 4 ? Math.max(peak, capacity) : peak * 1.1], range: [bottom, margin.top] };
  const boxes = useMemo(() => boxesOf(sorted, x, y), [sorted, x.range[1], y.domain[1], cycles]);
  const box = chosen === null ? undefined : boxes[chosen];
  return (
    <div
      className="occupancy address-map" ref={frame} role="group" tabIndex={0} aria-label={label}
      onKeyDown={(event) => {
        const to = moved(event.key, chosen ?? -1, boxes.length);
        if (to === undefined) return;
        event.preventDefault();
        setChosen(to);
      }}
      onPointerMove={(event) => {
        const rect = event.currentTarget.getBoundingClientRect();
        const found = boxAt(boxes, event.clientX - rect.left, event.clientY - rect.top);
        setChosen(found ? boxes.indexOf(found) : null);
      }}
      onPointerLeave={() => setChosen(null)}
      onBlur={() => setChosen(null)}
    >
      {width > 0 && (
        <svg width={width} height={chartHeight} aria-hidden="true">
          <Axes x={x} y={y} xUnit="cycles" yUnit="B" yCount={4} />
          {boxes.map((one, i) => (
            <rect
              key={i} x={one.x} y={one.y} width={one.width} height={one.height} className="memory-box"
              style={{ fill: `var(--c-${colour})`, fillOpacity: 0.35 + 0.1 * shadeOf(one.rectangle.name) }}
            />
          ))}
          {capacity <= y.domain[1] && <line x1={x.range[0]} x2={x.range[1]} y1={place(y, capacity)} y2={place(y, capacity)} className="limit" />}
          {box && <rect x={box.x} y={box.y} width={box.width} height={box.height} className="memory-box chosen" />}
        </svg>
      )}
      <p className="chart-note" aria-live="polite">{box ? describe(box.rectangle) : ' '}</p>
    </div>
  );
}
