// What a screening asks for, and how its answer becomes bars.
import { describe, expect, test } from 'vitest';
import { barPlaces, longest } from '../src/chart/interval_bars';
import { importanceOf, machinesOf, screeningRequest, type ScreenDraft } from '../src/screen/draft';

const draft: ScreenDraft = {
  model: 'sd15', preset: 'edge', machine: { cores: 2, steps: 4 }, axes: [], links: '', measures: ['area_mm2'], method: 'sobol',
  samples: { morris: 10, sobol: 64 }, seed: 1,
};

describe('a screening', () => {
  test('does not fix what it varies, and leaves axes to the server where none is chosen', () => {
    expect(screeningRequest(draft, [])).toEqual({ model: 'sd15', preset: 'edge', machine: { cores: 2, steps: 4 }, measures: ['area_mm2'], method: 'sobol', samples: 64, seed: 1 });
    const axes = [{ parameter: 'cores' as const, values: [1, 2] }];
    expect(screeningRequest(draft, axes)).toMatchObject({ machine: { steps: 4 }, axes });
  });
  test('takes as many machines as the design has', () => {
    expect(machinesOf('morris', 10, 30)).toBe(310);
    expect(machinesOf('sobol', 64, 3)).toBe(320);
  });
  test('is read as importance with an interval', () => {
    expect(importanceOf({ parameter: 'cores', mean: -3, mean_size: 4, deviation: 6, effects: 9 })).toEqual({ value: 4, error: 2, sign: -1 });
    expect(importanceOf({ parameter: 'cores', first: 0.2, first_error: 0.1, total: 0.5, total_error: 0.05 })).toEqual({ value: 0.5, error: 0.05, first: 0.2 });
    expect(importanceOf({ parameter: 'cores', mean: null, mean_size: null, deviation: null, effects: 0 })).toBeNull();
    expect(importanceOf({ parameter: 'cores', first: null, first_error: null, total: null, total_error: null })).toBeNull();
  });
  test('has bars that end within the longest interval and never before 0', () => {
    const bars = [{ name: 'a', value: 8, error: 2, text: '' }, { name: 'b', value: 1, error: 3, mark: 5, text: '' }];
    expect(longest(bars)).toBe(10);
    expect(barPlaces(bars[0]!, 10)).toEqual({ end: 80, low: 60, high: 100, mark: null });
    expect(barPlaces(bars[1]!, 10)).toEqual({ end: 10, low: 0, high: 40, mark: 50 });
    expect(barPlaces(bars[0]!, 0).end).toBe(0);
  });
});
