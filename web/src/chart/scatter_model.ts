// From columns of a sweep to what the scatter draws: pure, so that it is tested without a browser.
import type { Cell, Columns } from '../api/types';
import { paretoFront, type Better } from './front';
import { fadedColour, infeasibleColour, namedRgb, ramp } from './palette';
import { packed } from './raster';
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
  colours: Uint32Array;
  /** The ends of a numeric ramp, or the names of a named one. */
  range: [number, number] | null;
  log: boolean;
  names: string[];
}

/** A colour for each point by a third column; points not admitted are grey. */
export function colouring(cells: Cell[] | undefined, keep: Uint8Array, feasible: ArrayLike<number>, dark: boolean): Colouring {
  const colours = new Uint32Array(keep.length);
  const numbers = numbersOf(cells, keep.length).map((value, i) => (keep[i] ? value : NaN));
  const span = extent(numbers, false);
  const log = span !== null && span[0] > 0 && span[1] / span[0] > 30;
  const names: string[] = [];
  for (let i = 0; i < keep.length; i++) {
    const cell = cells?.[i];
    if (!keep[i]) colours[i] = feasible[i] ? fadedColour(dark) : infeasibleColour(dark);
    else if (typeof cell === 'string' || typeof cell === 'boolean') {
      const name = String(cell);
      if (!names.includes(name)) names.push(name);
      colours[i] = packed(...namedRgb(names.indexOf(name), dark));
    } else if (typeof cell === 'number' && span) {
      colours[i] = packed(...ramp(shareOf(cell, span, log), dark));
    }
  }
  return { colours, range: names.length > 0 ? null : span, log, names };
}

function shareOf(value: number, [low, high]: [number, number], log: boolean): number {
  if (low === high) return 0.5;
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** Infeasible points first, then those a constraint rules out, then the rest: the last drawn is on top. */
export function drawingOrder(keep: Uint8Array, feasible: ArrayLike<number>, showInfeasible: boolean): Uint32Array {
  const layers: number[][] = [[], [], []];
  for (let i = 0; i < keep.length; i++) {
    if (!feasible[i] && !showInfeasible) continue;
    (layers[keep[i] ? 2 : feasible[i] ? 1 : 0] as number[]).push(i);
  }
  return Uint32Array.from(layers.flat());
}

export const frontOf = (xs: Float64Array, ys: Float64Array, betterX: Better, betterY: Better, keep: Uint8Array): number[] =>
  paretoFront(xs, ys, betterX, betterY, (i) => keep[i] === 1);
