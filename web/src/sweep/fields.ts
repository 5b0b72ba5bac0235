// Which columns the charts of a sweep need.
import type { Constraint } from '../chart/scatter_model';
import type { Sweep } from '../api/types';

export const axesOf = (sweep: Sweep): string[] => sweep.spec.axes.map((axis) => axis.parameter);

/** The columns to fetch: both axes, the colour, the constraints, the swept parameters; each once. */
export function fieldsFor(sweep: Sweep, x: string, y: string, colour: string, constraints: Constraint[]): string[] {
  const wanted = [x, y, colour, ...sweep.objectives, ...constraints.map((one) => one.metric), ...axesOf(sweep)];
  return [...new Set(wanted.filter((name) => name !== '' && name !== 'density'))];
}

/** The axes a newcomer sees first: the cheapest of something against the most of something. */
export function firstAxes(objectives: string[]): { x: string; y: string } {
  const [first = 'throughput_fps', second = 'area_mm2'] = objectives;
  return { x: second, y: first };
}
