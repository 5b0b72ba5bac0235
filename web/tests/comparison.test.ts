// A comparison's rows: what stands together, and what a reader should expect of a device.
import { describe, expect, test } from 'vitest';
import type { ComparisonRow, Loss } from '../src/api/types';
import { groupsOf, likely, lossesByMetric } from '../src/point/comparison_rows';

const row = (id: string, kind: ComparisonRow['kind'], more: Partial<ComparisonRow> = {}): ComparisonRow =>
  ({ id, name: id, kind, batch: 1, feasible: true, format: 'fp16', other_format: false, checked: '', area_basis: '', process: '', energy: '', energy_has_dram: false, values: {}, energy_parts_j: {}, calibration: null, against: null, compute_s: null, memory_s: null, stages: [], measured: [], fields: [], notes: [], ...more });

describe('rows of a comparison', () => {
  test('stand by their kind, models and predictions together', () => {
    const groups = groupsOf([row('sdip', 'model'), row('a100', 'device'), row('m', 'measured'), row('b', 'roofline'), row('c', 'roofline')]);
    expect(groups.map(([group, rows]) => [group, rows.length])).toEqual([['compare.group_model', 2], ['compare.group_measured', 1], ['compare.group_bound', 2]]);
    expect(groupsOf([])).toEqual([]);
  });

  test('are calibrated where they can be, value by value', () => {
    const calibrated = row('a100', 'device', { values: { latency_s: 1, area_mm2: 826 }, calibration: { software: 's', factor: 2, values: { latency_s: 2 } } });
    expect(likely(calibrated, 'latency_s')).toBe(2);
    expect(likely(calibrated, 'area_mm2')).toBe(826);
    expect(likely(row('h100', 'device', { values: { latency_s: 1 } }), 'latency_s')).toBe(1);
    expect(likely(calibrated, 'none')).toBeUndefined();
  });

  test('have losses by metric in the order of the answer', () => {
    const loss = (metric: string, times: number): Loss => ({ ours: 'sdip', ours_name: 'SDIP', batch: 1, metric, id: 'a', name: 'A', kind: 'device', calibrated: true, estimated: false, checked: '', format: 'fp16', our_format: 'fp16', times });
    expect(lossesByMetric([loss('latency_s', 3), loss('latency_s', 2), loss('frames_per_j', 9)]).map(([metric, all]) => [metric, all.length])).toEqual([['latency_s', 2], ['frames_per_j', 1]]);
  });
});
