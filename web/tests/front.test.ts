// The Pareto front against its definition.
import { describe, expect, test } from 'vitest';
import { paretoFront, type Better } from '../src/chart/front';
import { marksOf, walked } from '../src/chart/front_marks';
import { pointAt, together } from '../src/chart/hit';
import type { Dots } from '../src/chart/raster';

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

const plot = { width: 100, height: 100 };
const dots = (points: [number, number][]): Dots => ({
  x: Float32Array.from(points, (p) => p[0]), y: Float32Array.from(points, (p) => p[1]), order: Uint32Array.from(points, (_, i) => i),
});

describe('marks of the front', () => {
  test('are as many as its points, however close these lie', () => {
    const many = dots(Array.from({ length: 56 }, (_, i) => [10 + i / 10, 50] as [number, number]));
    expect(marksOf(many, [...many.order], plot)).toHaveLength(56);
  });
  test('of a front that no browser bears are one for each pixel', () => {
    const many = dots(Array.from({ length: 3000 }, (_, i) => [i % 3, 5] as [number, number]));
    expect(marksOf(many, [...many.order], plot)).toEqual([0, 1, 2]);
  });
  test('outside the zoomed part are none', () => expect(marksOf(dots([[-5, 5], [5, 5], [5, 150]]), [0, 1, 2], plot)).toEqual([1]));
  test('are walked by the arrow keys, Home and End, and stop at the ends', () => {
    expect(['ArrowRight', 'ArrowUp', 'Home', 'End', 'x'].map((key) => walked(key, 1, 5))).toEqual([2, 0, 0, 4, undefined]);
    expect([walked('ArrowLeft', 0, 5), walked('ArrowDown', 4, 5)]).toEqual([0, 4]);
  });
});

describe('what a place means', () => {
  test('is the closest point within reach, or none', () => {
    const some = dots([[10, 10], [30, 10], [31, 10]]);
    expect(pointAt(some, [], plot, 29, 10)).toBe(1);
    expect(pointAt(some, [], plot, 80, 80)).toBe(-1);
  });
  test('is the nearest front mark, whichever lies on top', () => {
    const some = dots([[50, 50], [53, 50], [56, 50], [51, 50]]);
    const front = [0, 1, 2];
    expect([50, 52, 54, 57].map((x) => pointAt(some, front, plot, x, 50))).toEqual([0, 1, 1, 2]);
    expect([50, 52, 54, 57].map((x) => pointAt(some, [...front].reverse(), plot, x, 50))).toEqual([0, 1, 1, 2]);
  });
  test('is the same wherever it is asked for: pointed at, clicked and chosen by the keys', () => {
    const same = dots([[50, 50], [50, 50], [50, 50]]);
    for (const current of [0, 1, 2]) expect(pointAt(same, [0, 1, 2], plot, 51, 50, current)).toBe(current);
  });
  test('is no point that is not drawn, or lies outside the zoomed part', () => {
    const some = dots([[50, 50], [105, 50]]);
    expect(pointAt({ ...some, order: Uint32Array.from([]) }, [], plot, 50, 50)).toBe(-1);
    expect(pointAt(some, [1], plot, 99, 50)).toBe(-1);
  });
  test('has beside it the front points under the same mark', () => {
    const some = dots([[50, 50], [50.5, 50], [60, 50], [50, 50]]);
    expect(together(some, [0, 1, 2], 0)).toEqual([0, 1]);
    expect(together(some, [0, 1, 2], 3)).toEqual([3]);
  });
});
