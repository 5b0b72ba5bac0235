// Single changes as rows: how far each metric moves, the strongest first.
import type { Sensitivities, SingleChange } from '../api/types';

export interface ChangeRow extends SingleChange {
  place: number;
  /** Metric after over before, less 1; null where there is none. */
  moved: Record<string, number | null>;
}

/** Example: from 4 to 5 is 0.25, from 0 to 0 nothing, from 0 to 1 not said. */
export function movedShare(before: number | null | undefined, after: number | null | undefined): number | null {
  if (before === null || before === undefined || after === null || after === undefined) return null;
  if (before === after) return 0;
  return before === 0 ? null : after / before - 1;
}

const weight = (share: number | null | undefined) => (share === null || share === undefined ? -1 : Math.abs(Math.log(Math.max(1 + share, 1e-12))));

/** By how far frames a second move, then the latency; what cannot be run stands last. */
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

/** "+12.3 %", "×257", "0". */
export function movedText(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  if (share === 0) return '0';
  if (share >= 9) return `×${Math.round(1 + share).toLocaleString('en-US')}`;
  const text = Math.abs(share) < 5e-4 ? '<0.05' : (Math.abs(share) * 100).toFixed(1);
  return `${share > 0 ? '+' : '−'}${text} %`;
}
