// The knees of a front, as core/explore/front.h has them.
import { describe, expect, test } from 'vitest';
import { kneesOf } from '../src/chart/knees';

const all = (values: number[]) => values.map((_, i) => i);

describe('kneesOf', () => {
  test('is the example of its comment', () => {
    const xs = [1, 10, 1000];
    expect(kneesOf(xs, [1000, 10, 1], 'lower', 'lower', all(xs))).toEqual(['none', 'greatest', 'none']);
  });
  test('takes a front in either order, and what is better by greater values', () => {
    expect(kneesOf([1000, 10, 1], [1, 10, 1000], 'lower', 'lower', [0, 1, 2])).toEqual(['none', 'greatest', 'none']);
    expect(kneesOf([1, 10, 1000], [1, 100, 1000], 'lower', 'higher', [0, 1, 2])).toEqual(['none', 'greatest', 'none']);
  });
  test('has none on a line, where the front bends away, and of equal points', () => {
    expect(kneesOf([1, 10, 100], [100, 10, 1], 'lower', 'lower', [0, 1, 2])).toEqual(['none', 'none', 'none']);
    expect(kneesOf([1, 50, 100], [100, 50, 1], 'lower', 'lower', [0, 1, 2])).toEqual(['none', 'none', 'none']);
    expect(kneesOf([5, 5], [7, 7], 'lower', 'lower', [0, 1])).toEqual(['none', 'none']);
    expect(kneesOf([], [], 'lower', 'lower', [])).toEqual([]);
  });
  test('has a local one where it bends twice, and takes the first of equals', () => {
    const decades = (list: number[]) => list.map((one) => 10 ** one);
    expect(kneesOf(decades([0, 1, 2, 3, 4]), decades([4, 2.2, 1.9, 0.1, 0]), 'lower', 'lower', [0, 1, 2, 3, 4])).toEqual(['none', 'local', 'none', 'greatest', 'none']);
    expect(kneesOf([1, 10, 10, 1000], [1000, 10, 10, 1], 'lower', 'lower', [0, 1, 2, 3])).toEqual(['none', 'greatest', 'none', 'none']);
  });
  test('takes values of two signs as they are', () => {
    expect(kneesOf([-1, 0, 3], [3, 0, -1], 'lower', 'lower', [0, 1, 2])).toEqual(['none', 'greatest', 'none']);
  });
});
