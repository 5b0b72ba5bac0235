// The Pareto front against its definition.
import { describe, expect, test } from 'vitest';
import { paretoFront, type Better } from '../src/chart/front';
import { apart } from '../src/chart/front_marks';

const all = () => true;

/** The definition, written slowly. */
function slowFront(xs: number[], ys: number[], bx: Better, by: Better): number[] {
  const sx = bx === 'lower' ? 1 : -1;
  const sy = by === 'lower' ? 1 : -1;
  return xs.flatMap((_, i) => {
    const [x, y] = [sx * (xs[i] as number), sy * (ys[i] as number)];
    const beaten = xs.some((__, k) => {
      const [u, v] = [sx * (xs[k] as number), sy * (ys[k] as number)];
      return u <= x && v <= y && (u < x || v < y);
    });
    return beaten ? [] : [i];
  }).sort((a, b) => (xs[a] as number) - (xs[b] as number) || a - b);
}

describe('paretoFront', () => {
  test('is the example of its comment', () => expect(paretoFront([1, 2, 3], [1, 3, 2], 'lower', 'higher', all)).toEqual([0, 1]));
  test('keeps equal points', () => expect(paretoFront([1, 1, 2], [5, 5, 1], 'lower', 'higher', all)).toEqual([0, 1]));
  test('is empty when a metric has no better direction', () => expect(paretoFront([1], [1], 'neither', 'lower', all)).toEqual([]));
  test('skips points that are not numbers or not kept', () => {
    expect(paretoFront([NaN, 1, 0], [9, 1, 9], 'lower', 'higher', (i) => i !== 2)).toEqual([1]);
  });
  test('equals the definition on many small clouds with ties, in all directions', () => {
    let seed = 1;
    const next = () => (seed = (seed * 48271) % 2147483647) % 12;
    for (let round = 0; round < 200; round++) {
      const xs = Array.from({ length: 15 }, next);
      const ys = Array.from({ length: 15 }, next);
      for (const bx of ['lower', 'higher'] as const) {
        for (const by of ['lower', 'higher'] as const) {
          expect(paretoFront(xs, ys, bx, by, all)).toEqual(slowFront(xs, ys, bx, by));
        }
      }
    }
  });
});

test('marks that would lie on one another are left out', () => {
  const marks = [0, 3, 9, 10, 20].map((px) => ({ px, py: 0 }));
  expect(apart(marks, 9).map((mark) => mark.px)).toEqual([0, 9, 20]);
});
