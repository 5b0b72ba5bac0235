// Rows of a comparison: which stand together, and what a reader should expect of them.
import type { ComparisonRow, Loss } from '../api/types';

export type Group = 'compare.group_model' | 'compare.group_measured' | 'compare.group_bound' | 'compare.group_unpublished';

const groupOf: Record<ComparisonRow['kind'], Group> = {
  model: 'compare.group_model',
  device: 'compare.group_model',
  measured: 'compare.group_measured',
  roofline: 'compare.group_bound',
  unpublished: 'compare.group_unpublished',
};

/** Rows by their group, in the order of the answer, which has those of a group together. */
export function groupsOf(rows: ComparisonRow[]): [Group, ComparisonRow[]][] {
  const groups: [Group, ComparisonRow[]][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last && last[0] === groupOf[row.kind]) last[1].push(row);
    else groups.push([groupOf[row.kind], [row]]);
  }
  return groups;
}

/** The value with the factor of the device's software, where it has one. */
export const likely = (row: ComparisonRow, metric: string): number | null | undefined =>
  row.calibration?.values[metric] ?? row.values[metric];

/** Losses by metric, in the order of the answer. */
export function lossesByMetric(losses: Loss[]): [string, Loss[]][] {
  const metrics = [...new Set(losses.map((one) => one.metric))];
  return metrics.map((metric) => [metric, losses.filter((one) => one.metric === metric)]);
}
