// Instructions under the machine's roofs: MACs per cycle against MACs per DRAM byte.
import { useRef, useState, type ReactNode } from 'react';
import { useSize } from '../ui/size';
import { Axes } from './axes';
import { extent, padded, place, type Scale } from './scale';

export interface RooflineDot {
  id: number;
  intensity: number;
  rate: number;
  colour: string;
}

interface Props {
  dots: RooflineDot[];
  /** MACs a cycle at most, and bytes a cycle from DRAM. */
  roofs: { label: string; rate: number }[];
  bytesPerCycle: number;
  label: string;
  xTitle: string;
  yTitle: string;
  memoryLabel: string;
  describe: (id: number) => ReactNode;
}

const margin = { left: 64, right: 18, top: 26, bottom: 42 };
const height = 340;

export function Roofline({ dots, roofs, bytesPerCycle, label, xTitle, yTitle, memoryLabel, describe }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [hover, setHover] = useState<RooflineDot | null>(null);
  const most = Math.max(...roofs.map((roof) => roof.rate), 1);
  const ridge = most / bytesPerCycle;
  const xs = extent([...dots.map((dot) => dot.intensity), ridge, ridge * 4], true) ?? [1, 10];
  const ys = extent([...dots.map((dot) => dot.rate), most], true) ?? [1, 10];
  const x: Scale = { log: true, domain: padded(xs, true), range: [margin.left, Math.max(margin.left + 10, width - margin.right)] };
  const y: Scale = { log: true, domain: padded(ys, true, 0.06), range: [height - margin.bottom, margin.top] };
  const sx = (value: number) => place(x, value);
  const sy = (value: number) => Math.min(y.range[0], place(y, value));
  const low = Math.max(x.domain[0], y.domain[0] / bytesPerCycle);
  // Above the slope, or under its foot where it is too short for the words.
  const middle = (sx(low) + sx(ridge)) / 2 - 6;
  const labelAt = middle > margin.left + 120
    ? { x: middle, y: (sy(low * bytesPerCycle) + sy(most)) / 2 - 8, anchor: 'end' as const }
    : { x: margin.left + 8, y: sy(low * bytesPerCycle) + 16, anchor: 'start' as const };
  return (
    <div className="roofline" ref={box}>
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label}>
          <Axes x={x} y={y} xUnit="" yUnit="" xTitle={xTitle} yTitle={yTitle} />
          <path d={`M${sx(low)},${sy(low * bytesPerCycle)}L${sx(ridge)},${sy(most)}`} className="roof" data-bytes-per-cycle={bytesPerCycle} />
          <text className="limit-label" x={labelAt.x} y={labelAt.y} textAnchor={labelAt.anchor}>{memoryLabel}</text>
          {roofs.map((roof) => (
            <g key={roof.label}>
              <path d={`M${sx(roof.rate / bytesPerCycle)},${sy(roof.rate)}H${x.range[1]}`} className="roof" data-macs-per-cycle={roof.rate} />
              <text x={x.range[1]} y={sy(roof.rate) - 5} textAnchor="end" className="limit-label">{roof.label}</text>
            </g>
          ))}
          {dots.map((dot) => (
            <circle
              key={dot.id} cx={sx(dot.intensity)} cy={sy(dot.rate)} r={hover === dot ? 6 : 4} className="roof-dot"
              style={{ fill: `var(--c-${dot.colour}, var(--c-other))` }}
              onPointerEnter={() => setHover(dot)} onPointerLeave={() => setHover(null)}
            />
          ))}
        </svg>
      )}
      {hover && (
        <div className="tooltip" style={{ top: Math.max(0, sy(hover.rate) - 10), ...(sx(hover.intensity) > width / 2 ? { right: width - sx(hover.intensity) + 12 } : { left: sx(hover.intensity) + 12 }) }}>
          {describe(hover.id)}
        </div>
      )}
    </div>
  );
}
