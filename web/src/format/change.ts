// How a number moved against another: one threshold, one sign and one judgement for every place that says so.
import type { Metric } from '../api/types';

/** Below this share two figures are not told apart: 0.05 %. */
export const noDifference = 5e-4;
export const noDifferenceText = '0.05 %';

export type Judgement = 'better' | 'worse' | 'same' | 'neither';

/** After over before, less 1; from 0 to 0 nothing, from 0 to anything else not said. Example: from 4 to 5 is 0.25. */
export function movedShare(before: number | null | undefined, after: number | null | undefined): number | null {
  if (before === null || before === undefined || after === null || after === undefined) return null;
  if (before === after) return 0;
  return before === 0 ? null : (after - before) / Math.abs(before);
}

/** "+12.3 %", "×257", "0", and "≈ 0" of less than the threshold. */
export function movedText(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  if (share === 0) return '0';
  if (Math.abs(share) < noDifference) return '≈ 0';
  if (share >= 9) return `×${Math.round(1 + share).toLocaleString('en-US')}`;
  return `${share > 0 ? '+' : '−'}${(Math.abs(share) * 100).toFixed(Math.abs(share) < 0.01 ? 2 : 1)} %`;
}

/** Judges a move. A figure that grew from 0 has no share, but is judged all the same. */
export function judged(before: number, after: number, better: Metric['better']): Judgement {
  const share = movedShare(before, after);
  if (before === after || (share !== null && Math.abs(share) < noDifference)) return 'same';
  if (better === 'neither') return 'neither';
  return after > before === (better === 'higher') ? 'better' : 'worse';
}
