// From columns of a sweep to what the scatter draws: pure, so that it is tested without a browser.
import type { Cell, Columns } from '../api/types';
import { paretoFront, type Better } from './front';
import { blankColour, dotRgb, fadedColour, infeasibleColour, namedRgb, ramp } from './palette';
import { heaped, opacity, packed, type Dots, type Heap } from './raster';
import { extent } from './scale';

export interface Constraint {
  metric: string;
  most: boolean;
  value: number;
}

/** `area_mm2<400,throughput_fps>1` as constraints; what is not one is left out. */
export function parseConstraints(text: string): Constraint[] {
  return text.split(',').flatMap((part) => {
    const match = /^(\w+)([<>])(-?[\d.eE+-]+)$/.exec(part.trim());
    const value = Number(match?.[3]);
    return match?.[1] && Number.isFinite(value) ? [{ metric: match[1], most: match[2] === '<', value }] : [];
  });
}

export const encodeConstraints = (constraints: Constraint[]): string =>
  constraints.map((one) => `${one.metric}${one.most ? '<' : '>'}${one.value}`).join(',');

export function numbersOf(cells: Cell[] | undefined, count: number): Float64Array {
  const numbers = new Float64Array(count).fill(NaN);
  cells?.forEach((cell, i) => {
    if (typeof cell === 'number') numbers[i] = cell;
  });
  return numbers;
}

/** 1 where a point is feasible and meets every constraint. */
export function admitted(columns: Columns, constraints: Constraint[]): Uint8Array {
  const keep = Uint8Array.from(columns.feasible);
  for (const { metric, most, value } of constraints) {
    const cells = columns.columns[metric];
    for (let i = 0; i < keep.length; i++) {
      const cell = cells?.[i];
      if (typeof cell !== 'number' || (most ? cell > value : cell < value)) keep[i] = 0;
    }
  }
  return keep;
}

export interface Colouring {
  /** Channels of each point: red, green and blue of its name, or the level of its value on the ramp, 0 to 255. */
  channels: Uint8Array[];
  /** 1 where a point has a colour; the others have no value, or none that a logarithmic scale can show. */
  coloured: Uint8Array;
  /** The ends of a numeric ramp; of names their number of points beside them. */
  range: [number, number] | null;
  log: boolean;
  names: { name: string; points: number }[];
}

/**
 * A colour for each feasible point by a third column, the same whatever a limit rules out. Names stand in the order of
 * `choices`, then by the alphabet; a ramp is linear unless `log` is asked for.
 */
export function colouring(cells: Cell[] | undefined, feasible: ArrayLike<number>, log: boolean, dark: boolean, choices: string[] = []): Colouring {
  const count = feasible.length;
  const coloured = new Uint8Array(count);
  const named = cells?.some((cell, i) => feasible[i] && (typeof cell === 'string' || typeof cell === 'boolean')) ?? false;
  if (named) {
    const points = new Map<string, number>();
    cells?.forEach((cell, i) => { if (feasible[i] && cell !== null) points.set(String(cell), (points.get(String(cell)) ?? 0) + 1); });
    const place = (name: string) => (choices.includes(name) ? choices.indexOf(name) : choices.length);
    const names = [...points.keys()].sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1));
    const rgb = names.map((_, k) => namedRgb(k, dark));
    const channels = [0, 1, 2].map(() => new Uint8Array(count));
    for (let i = 0; i < count; i++) {
      const colour = rgb[names.indexOf(String(cells?.[i]))];
      if (!feasible[i] || !colour) continue;
      coloured[i] = 1;
      channels.forEach((channel, k) => { channel[i] = colour[k] as number; });
    }
    return { channels, coloured, range: null, log: false, names: names.map((name) => ({ name, points: points.get(name) ?? 0 })) };
  }
  const numbers = numbersOf(cells, count).map((value, i) => (feasible[i] ? value : NaN));
  const span = extent(numbers, log);
  const level = new Uint8Array(count);
  numbers.forEach((value, i) => {
    if (!span || !(value >= span[0])) return;
    coloured[i] = 1;
    level[i] = Math.round(255 * shareOf(value, span, log));
  });
  return { channels: [level], coloured, range: span, log, names: [] };
}

function shareOf(value: number, [low, high]: [number, number], log: boolean): number {
  if (low === high) return 0.5;
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** The colour of a pixel where several points lie: the mix of their colours by number, or the ramp at their mean. */
export function mixed(heap: Heap, at: number, dark: boolean): number {
  const points = heap.count[at] as number;
  const mean = (k: number) => Math.round((heap.sums[k]?.[at] as number) / points);
  return heap.sums.length === 1 ? packed(...ramp(mean(0) / 255, dark)) : packed(mean(0), mean(1), mean(2));
}

/** Layers from below: infeasible points, those that a limit rules out, those without a colour, the rest. */
export function layersOf(keep: Uint8Array, feasible: ArrayLike<number>, coloured: Uint8Array, showInfeasible: boolean): Uint32Array[] {
  const layers: number[][] = [[], [], [], []];
  for (let i = 0; i < keep.length; i++) {
    if (!feasible[i] && !showInfeasible) continue;
    (layers[!feasible[i] ? 0 : !keep[i] ? 1 : !coloured[i] ? 2 : 3] as number[]).push(i);
  }
  return layers.map((layer) => Uint32Array.from(layer));
}

/** The pixels of the whole scatter; a layer hides those below it, within the last one no point hides another. */
export function painted(
  dots: Dots, layers: Uint32Array[], channels: Uint8Array[] | null, width: number, height: number, radius: number, dark: boolean,
): Uint32Array {
  const pixels = new Uint32Array(width * height);
  const flat = [infeasibleColour(dark), fadedColour(dark), blankColour(dark)];
  layers.forEach((order, layer) => {
    if (order.length === 0) return;
    const heap = heaped({ ...dots, order }, layer < 3 || !channels ? [] : channels, width, height, radius);
    const shade = layer < 3 ? () => flat[layer] as number
      : channels ? (at: number) => mixed(heap, at, dark)
      : (at: number) => packed(...dotRgb(dark), opacity(heap.count[at] as number, heap.most));
    for (let at = 0; at < pixels.length; at++) if (heap.count[at]) pixels[at] = shade(at);
  });
  return pixels;
}

/** How many feasible points have no place on two axes: no value there, or none above 0 on a logarithmic one. */
export function unplaced(x: Float64Array, logX: boolean, y: Float64Array, logY: boolean, shown: Uint32Array[]): number {
  const has = (value: number, log: boolean) => Number.isFinite(value) && (!log || value > 0);
  return shown.reduce((sum, layer) => sum + layer.reduce((n, i) => n + Number(!has(x[i] as number, logX) || !has(y[i] as number, logY)), 0), 0);
}

export const frontOf = (xs: Float64Array, ys: Float64Array, betterX: Better, betterY: Better, keep: Uint8Array): number[] =>
  paretoFront(xs, ys, betterX, betterY, (i) => keep[i] === 1);
