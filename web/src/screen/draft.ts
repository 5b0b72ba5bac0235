// A screening as drafted in the form, the request it becomes, and its answer as bars.
import type { Axis, Machine, ScreenedRow, ScreeningRequest } from '../api/types';
import { changesOf } from '../form/values';
import type { AxisDraft } from '../form/axes';
import { linksOf, unlinked } from '../form/links';

export type ScreeningMethod = NonNullable<ScreeningRequest['method']>;

export interface ScreenDraft {
  model: string;
  preset: string;
  machine: Machine;
  /** None: the numbers that the search for the best machine varies. */
  axes: AxisDraft[];
  /** Rows that follow others, a line each. */
  links: string;
  measures: string[];
  method: ScreeningMethod;
  samples: Record<ScreeningMethod, number>;
  seed: number;
}

export const mostMachines = 100_000;

/** How many machines it takes over so many rows. */
export const machinesOf = (method: ScreeningMethod, samples: number, rows: number) =>
  method === 'morris' ? samples * (rows + 1) : samples * (rows + 2);

/** The body of POST /screenings. A parameter on an axis is not also fixed. */
export function screeningRequest(draft: ScreenDraft, axes: Axis[]): ScreeningRequest {
  const varied = new Set<string>(axes.map((axis) => axis.parameter));
  const machine = Object.fromEntries(Object.entries(draft.machine).filter(([name]) => !varied.has(name)));
  const links = linksOf(draft.links);
  return {
    model: draft.model,
    preset: draft.preset,
    machine: changesOf(unlinked(machine, links)),
    ...(links.length > 0 ? { links } : {}),
    ...(axes.length > 0 ? { axes } : {}),
    measures: draft.measures,
    method: draft.method,
    samples: draft.samples[draft.method],
    seed: draft.seed,
  };
}

export interface Importance {
  value: number;
  error: number;
  /** For sobol, the share that the row makes alone. */
  first?: number;
  /** For morris, which way the measure goes, on the mean. */
  sign?: number;
}

/**
 * A row's effect, and how sure that is: for sobol its total share and that one's standard error; for morris the mean
 * size of its effects, and their deviation over the root of their number, of which the standard error of the mean size
 * is no more. Null where it has no value.
 */
export function importanceOf(row: ScreenedRow): Importance | null {
  if (row.total !== undefined) {
    if (row.total === null) return null;
    return { value: row.total, error: row.total_error ?? 0, ...(row.first === null || row.first === undefined ? {} : { first: row.first }) };
  }
  if (row.mean_size === null || row.mean_size === undefined) return null;
  const effects = row.effects ?? 0;
  return { value: row.mean_size, error: effects > 0 ? (row.deviation ?? 0) / Math.sqrt(effects) : 0, sign: Math.sign(row.mean ?? 0) };
}
