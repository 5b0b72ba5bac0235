// Bytes that the memories hold and that DRAM moves over a program, on one time axis with one crosshair.
import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { Instruction } from '../api/types';
import { quantity } from '../format/quantity';
import { useSize } from '../ui/size';
import { Axes } from './axes';
import { place, topOf, valueAt, type Scale } from './scale';
import { binned, endOf, instructionAt, inTime, stepPath } from './timeline';

export interface Series {
  name: string;
  label: string;
  value: (one: Instruction) => number;
}

/** A capacity, drawn as a line across. */
export interface Limit {
  value: number;
  label: string;
}

export interface Panel {
  title: string;
  unit: string;
  series: Series[];
  limits: Limit[];
  /** Stacked amounts per cycle in place of levels. */
  rate?: boolean;
}

interface Props {
  program: Instruction[];
  panels: Panel[];
  label: string;
  describe: (one: Instruction) => ReactNode;
}

const margin = { left: 78, right: 16, top: 6, bottom: 6 };
const panelHeight = 104;

export function OccupancyChart({ program: instructions, panels, label, describe }: Props) {
  const program = useMemo(() => inTime(instructions), [instructions]);
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [cycle, setCycle] = useState<number | null>(null);
  const cycles = endOf(program);
  const x: Scale = { log: false, domain: [0, Math.max(1, cycles)], range: [margin.left, Math.max(margin.left + 10, width - margin.right)] };
  const one = cycle === null ? undefined : instructionAt(program, cycle);
  return (
    <div
      className="occupancy" ref={box} role="img" aria-label={label}
      onPointerMove={(event) => {
        const rect = event.currentTarget.getBoundingClientRect();
        const at = valueAt(x, event.clientX - rect.left);
        setCycle(at >= 0 && at <= cycles ? at : null);
      }}
      onPointerLeave={() => setCycle(null)}
    >
      {width > 0 && panels.map((panel, i) => (
        <PanelChart key={panel.title} panel={panel} program={program} x={x} width={width} cycles={cycles} last={i === panels.length - 1} cycle={cycle} one={one} />
      ))}
      {one && cycle !== null && (
        <div className="tooltip" style={{ top: 4, ...(place(x, cycle) > width / 2 ? { right: width - place(x, cycle) + 12 } : { left: place(x, cycle) + 12 }) }}>
          {describe(one)}
        </div>
      )}
    </div>
  );
}

interface PanelProps {
  panel: Panel;
  program: Instruction[];
  x: Scale;
  width: number;
  cycles: number;
  last: boolean;
  cycle: number | null;
  one: Instruction | undefined;
}

function PanelChart({ panel, program, x, width, cycles, last, cycle, one }: PanelProps) {
  const height = panelHeight + (last ? 18 : 0);
  const bottom = panelHeight - margin.bottom;
  const paths = useMemo(
    () => (panel.rate ? ratePaths(panel, program, x, bottom, cycles) : levelPaths(panel, program, x, bottom)),
    [panel, program, x.range[1], bottom, cycles],
  );
  const y: Scale = { log: false, domain: [0, paths.most], range: [bottom, margin.top] };
  const inside = panel.limits.filter((limit) => limit.value <= paths.most);
  const beyond = panel.limits.filter((limit) => limit.value > paths.most);
  return (
    <>
    <Legend panel={panel} one={one} beyond={beyond.map((limit) => limit.label)} />
    <svg width={width} height={height} aria-hidden="true">
      <Axes x={x} y={y} xUnit="cycles" yUnit={panel.unit} yCount={3} xLabels={last} />
      {paths.list.map((path) => (
        <path key={path.name} d={path.d} style={{ fill: `var(--c-${path.name})`, stroke: `var(--c-${path.name})` }} className={panel.rate ? 'area solid' : path.name === 'dsram_write' ? 'area line' : 'area'} />
      ))}
      {inside.map((limit) => (
        <g key={limit.label}>
          <line x1={x.range[0]} x2={x.range[1]} y1={place(y, limit.value)} y2={place(y, limit.value)} className="limit" />
          <text x={x.range[1]} y={place(y, limit.value) + 13} textAnchor="end" className="limit-label">{limit.label}</text>
        </g>
      ))}
      {cycle !== null && <line x1={place(x, cycle)} x2={place(x, cycle)} y1={margin.top} y2={bottom} className="crosshair" />}
    </svg>
    </>
  );
}

function Legend({ panel, one, beyond }: { panel: Panel; one: Instruction | undefined; beyond: string[] }) {
  return (
    <p className="panel-head">
      <strong>{panel.title}</strong>
      {beyond.map((label) => <span key={label}>↑ {label}</span>)}
      {panel.series.map((series) => (
        <span key={series.name}>
          <span className="swatch" style={{ background: `var(--c-${series.name})` }} /> {series.label}
          {one && <b> {quantity(series.value(one), 'B', 3)}</b>}
        </span>
      ))}
    </p>
  );
}

interface Paths {
  most: number;
  list: { name: string; d: string }[];
}

const mostOf = (panel: Panel): number | undefined =>
  panel.limits.length > 0 ? Math.max(...panel.limits.map((limit) => limit.value)) : undefined;

function levelPaths(panel: Panel, program: Instruction[], x: Scale, bottom: number): Paths {
  const peak = Math.max(1, ...panel.series.map((series) => program.reduce((most, one) => Math.max(most, series.value(one)), 0)));
  const most = topOf(peak, mostOf(panel));
  const y: Scale = { log: false, domain: [0, most], range: [bottom, margin.top] };
  const list = panel.series.map((series) => ({
    name: series.name,
    d: stepPath(program, series.value, (cycle) => place(x, cycle), (value) => place(y, value), true),
  }));
  return { most, list };
}

function ratePaths(panel: Panel, program: Instruction[], x: Scale, bottom: number, cycles: number): Paths {
  const bins = Math.max(20, Math.min(400, Math.floor((x.range[1] - x.range[0]) / 3)));
  const width = cycles / bins;
  const sums = panel.series.map((series) => binned(program, series.value, bins, cycles).map((sum) => sum / width));
  const tops = sums.map((_, k) => Float64Array.from({ length: bins }, (_, bin) => sums.slice(0, k + 1).reduce((sum, one) => sum + (one[bin] as number), 0)));
  const peak = Math.max(0, ...(tops[tops.length - 1] ?? [1]));
  const most = topOf(peak, mostOf(panel));
  const y: Scale = { log: false, domain: [0, most], range: [bottom, margin.top] };
  const list = panel.series.map((series, k) => {
    const top = tops[k] as Float64Array;
    let d = `M${x.range[0]},${bottom}`;
    for (let bin = 0; bin < bins; bin++) {
      d += `V${place(y, top[bin] as number).toFixed(1)}H${place(x, (bin + 1) * width).toFixed(1)}`;
    }
    return { name: series.name, d: `${d}V${bottom}Z` };
  });
  return { most, list: list.reverse() };
}
