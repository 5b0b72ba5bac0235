// The axes of a chart, in SVG: lines, ticks, titles.
import { tickText } from '../format/quantity';
import { place, ticksOf, type Scale } from './scale';

interface Props {
  x: Scale;
  y: Scale;
  xUnit: string;
  yUnit: string;
  xTitle?: string | undefined;
  yTitle?: string | undefined;
  xCount?: number;
  yCount?: number;
  xLabels?: boolean;
}

export function Axes({ x, y, xUnit, yUnit, xTitle, yTitle, xCount, yCount, xLabels = true }: Props) {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  const xTicks = ticksOf(x, xCount ?? Math.max(3, Math.floor((right - left) / 95)), xUnit);
  const yTicks = ticksOf(y, yCount ?? Math.max(2, Math.floor((bottom - top) / 45)), yUnit);
  return (
    <g className="axes" aria-hidden="true">
      {xTicks.map((tick) => (
        <g key={tick} transform={`translate(${place(x, tick)},0)`}>
          <line y1={top} y2={bottom} className="grid" />
          {xLabels && <text y={bottom + 16} textAnchor="middle">{tickText(tick, xUnit)}</text>}
        </g>
      ))}
      {yTicks.map((tick) => (
        <g key={tick} transform={`translate(0,${place(y, tick)})`}>
          <line x1={left} x2={right} className="grid" />
          <text x={left - 7} dy="0.32em" textAnchor="end">{tickText(tick, yUnit)}</text>
        </g>
      ))}
      <path d={`M${left},${top}V${bottom}H${right}`} className="axis" />
      {xTitle && <text x={right} y={bottom + 34} textAnchor="end" className="axis-title">{xTitle}</text>}
      {yTitle && <text x={left} y={top - 9} textAnchor="start" className="axis-title">{yTitle}</text>}
    </g>
  );
}
