// Which columns the charts of a sweep need.
import type { Constraint } from '../chart/scatter_model';
import type { Sweep } from '../api/types';
import { objectiveName } from './formulas';

export const axesOf = (sweep: Sweep): string[] => sweep.spec.axes.map((axis) => axis.parameter);

/** Measured accuracies of points that have them; columns, but no metrics. */
export const accuracyFields = ['sqnr_db', 'cosine', 'accuracy_weights'] as const;
export const isAccuracy = (name: string): boolean => (accuracyFields as readonly string[]).includes(name);

/** A cell of such a column as text: a share of noise of nothing is told, what was not measured is blank. */
export function accuracyText(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (value === 'inf') return '∞';
  if (typeof value !== 'number') return String(value);
  return Math.abs(value) > 1 ? value.toFixed(1) : value.toFixed(5);
}

/** The same to sort by. */
export const accuracyOrder = (value: string | number | boolean | null | undefined) => (value === 'inf' ? Infinity : value);

/** The columns to fetch: both axes, the colour, the constraints, the swept parameters, what was measured; each once. */
export function fieldsFor(sweep: Sweep, x: string, y: string, colour: string, constraints: Constraint[]): string[] {
  const wanted = [x, y, colour, ...sweep.objectives.map(objectiveName), ...constraints.map((one) => one.metric), ...axesOf(sweep), ...accuracyFields];
  return [...new Set(wanted.filter((name) => name !== '' && name !== 'density'))];
}

/** The axes a newcomer sees first: the cheapest of something against the most of something. */
export function firstAxes(objectives: string[]): { x: string; y: string } {
  const [first = 'throughput_fps', second = 'area_mm2'] = objectives.map(objectiveName);
  return { x: second, y: first };
}
