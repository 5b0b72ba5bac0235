// How far single changes move metrics, and in which order they stand.
import { describe, expect, test } from 'vitest';
import type { Sensitivities, SingleChange } from '../src/api/types';
import { changeRows } from '../src/explain/change_rows';

const change = (parameter: string, fps: number | null, latency: number | null): SingleChange => ({
  parameter, from: 1, to: 2, kind: 'design', feasible: fps !== null, reason: '', pace: '', limiter: '',
  metrics: { throughput_fps: fps, latency_s: latency } as SingleChange['metrics'], elasticities: {} as SingleChange['elasticities'],
});
const answer = {
  metrics: { throughput_fps: 4, latency_s: 2 },
  changes: [change('weak', 4.4, 2), change('none', null, null), change('late', 4, 3), change('strong', 1, 2), change('same', 4, 2)],
} as unknown as Sensitivities;

describe('single changes', () => {
  test('stand by frames a second, then latency, the infeasible last', () => {
    expect(changeRows(answer).map((row) => row.parameter)).toEqual(['strong', 'weak', 'late', 'same', 'none']);
  });
  test('keep their place in the answer', () => expect(changeRows(answer).map((row) => row.place)).toEqual([3, 0, 2, 4, 1]));
});
