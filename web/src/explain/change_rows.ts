// Single changes as rows: how far each metric moves, the strongest first.
import type { Sensitivities, SingleChange } from '../api/types';
import { movedShare } from '../format/change';

export interface ChangeRow extends SingleChange {
  place: number;
  /** Metric after over before, less 1; null where there is none. */
  moved: Record<string, number | null>;
}

const weight = (share: number | null | undefined) => (share === null || share === undefined ? -1 : Math.abs(Math.log(Math.max(1 + share, 1e-12))));

/** Sorts by how far frames a second move, then the latency; machines that cannot run stand last. */
export function changeRows(answer: Sensitivities): ChangeRow[] {
  const rows = answer.changes.map((change, place) => {
    const before: Record<string, number | null> = answer.metrics;
    const after: Record<string, number | null> = change.metrics;
    const moved = Object.fromEntries(Object.keys(before).map((name) => [name, movedShare(before[name], after[name])]));
    return { ...change, place, moved };
  });
  return rows.sort((a, b) => Number(b.feasible) - Number(a.feasible)
    || weight(b.moved.throughput_fps) - weight(a.moved.throughput_fps) || weight(b.moved.latency_s) - weight(a.moved.latency_s));
}
