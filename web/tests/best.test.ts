// What a search is asked for, and how its best so far is drawn.
import { describe, expect, test } from 'vitest';
import { conditionsOf, goalOf, goalText, isReady, searchRequest, type SearchDraft } from '../src/best/draft';
import { stepsOf, tracePath } from '../src/best/trace';

const draft: SearchDraft = {
  model: 'sd15', preset: 'edge', goals: [{ metric: 'area_mm2', most: false }], conditions: ' throughput_fps >= 30 \n\narea_mm2 <= 100\n',
  fixed: { steps: 4, 'technology.n7.multiply.fp16': 0.3 }, links: '', by: 'time', seconds: 60, evaluations: 5000, validateSeconds: 0, seed: 7,
  optimiser: 'families', islands: 1, sqnr: '', sqnrModel: '',
};

describe('a draft', () => {
  test('becomes the request that the server takes', () => {
    expect(searchRequest(draft)).toEqual({
      model: 'sd15', preset: 'edge', fixed: { steps: 4, technology: { 'n7.multiply.fp16': 0.3 } }, objectives: ['min:area_mm2'],
      constraints: ['throughput_fps >= 30', 'area_mm2 <= 100'], seconds: 60, validate_seconds: 0, seed: 7,
      optimiser: 'families', islands: 1,
    });
    const counted = searchRequest({ ...draft, by: 'evaluations' });
    expect(counted.evaluations).toBe(5000);
    expect(counted.seconds).toBeUndefined();
    expect(searchRequest({ ...draft, links: 'steps = 2 * guidance' })).toMatchObject({ links: [{ parameter: 'steps', formula: '2 * guidance' }], fixed: { technology: { 'n7.multiply.fp16': 0.3 } } });
    expect(searchRequest({ ...draft, links: 'steps = 2 * guidance' }).fixed).not.toHaveProperty('steps');
    expect(searchRequest({ ...draft, sqnr: ' 12.5 ' })).toMatchObject({ sqnr_db: 12.5 });
    expect(searchRequest({ ...draft, sqnr: '12', sqnrModel: 'tiny-sd' })).toMatchObject({ sqnr_db: 12, sqnr_model: 'tiny-sd' });
    expect(searchRequest({ ...draft, sqnrModel: 'tiny-sd' })).not.toHaveProperty('sqnr_model');
  });
  test('is ready only where every number is one within its range', () => {
    expect(isReady(draft)).toBe(true);
    for (const wrong of [
      { model: '' }, { sqnr: 'much' }, { goals: [] }, { seconds: NaN }, { seconds: 0 }, { seconds: 86_401 }, { seconds: 1.5 }, { seed: -1 }, { islands: 0 }, { islands: 65 }, { optimiser: 'moead' as const }, { validateSeconds: 3601 },
      { by: 'evaluations' as const, evaluations: 0 }, { conditions: 'area_mm2 <= 1\n'.repeat(33) },
      { goals: [{ metric: 'area_mm2', most: false }, { metric: 'area_mm2', most: true }] },
    ]) expect(isReady({ ...draft, ...wrong }), JSON.stringify(wrong)).toBe(false);
    expect(isReady({ ...draft, by: 'evaluations', seconds: NaN })).toBe(true);
    expect(isReady({ ...draft, optimiser: 'local' })).toBe(true);
  });
  test('has a condition on each line that is not empty', () => expect(conditionsOf('\n a \n\nb')).toEqual(['a', 'b']));
});

test('goals are read back, a metric alone in its own direction', () => {
  const better = (metric: string) => (metric === 'throughput_fps' ? 'higher' : 'lower');
  for (const goal of [{ metric: 'area_mm2', most: false }, { metric: 'e', most: true }]) expect(goalOf(goalText(goal), better)).toEqual(goal);
  expect(goalOf('throughput_fps', better)).toEqual({ metric: 'throughput_fps', most: true });
  expect(goalOf('area_mm2', better)).toEqual({ metric: 'area_mm2', most: false });
});

describe('the best so far', () => {
  test('is a line of steps to where the search is now', () => {
    const steps = stepsOf([{ evaluated: 0, values: [5] }, { evaluated: 2, values: [null] }, { evaluated: 4, values: [3, 9] }]);
    expect(steps).toEqual([{ evaluated: 0, value: 5 }, { evaluated: 4, value: 3 }]);
    expect(tracePath(steps, 6, (n) => n, (value) => value)).toBe('M0.0,5.0H4.0V3.0H6.0');
  });
  test('is nothing where no machine keeps the conditions', () => expect(tracePath([], 6, (n) => n, (value) => value)).toBe(''));
});
