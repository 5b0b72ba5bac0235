// Scales and ticks.
import { describe, expect, test } from 'vitest';
import { extent, padded, place, ticksOf, topOf, valueAt, type Scale } from '../src/chart/scale';

const scale = (domain: [number, number], log = false): Scale => ({ log, domain, range: [0, 100] });

describe('scale', () => {
  test('place and valueAt are inverses on linear and log axes', () => {
    for (const one of [scale([2, 12]), scale([1, 1000], true)]) {
      expect(valueAt(one, place(one, 7))).toBeCloseTo(7, 9);
    }
    expect(place(scale([1, 1000], true), 10)).toBeCloseTo(100 / 3, 9);
  });
  test('a log axis has no place for zero', () => expect(place(scale([1, 10], true), 0)).toBeNaN());
  test('extent skips what is not a number, and zero on a log axis', () => {
    expect(extent([NaN, 3, 0, 5], false)).toEqual([0, 5]);
    expect(extent([NaN, 3, 0, 5], true)).toEqual([3, 5]);
    expect(extent([NaN], false)).toBeNull();
  });
  test('a single value still gets a domain of some width', () => {
    const [low, high] = padded([5, 5], false);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(5);
    expect(padded([0, 0], false)).toEqual([0, 1]);
  });
});

describe('ticks', () => {
  test('are round and inside the domain', () => expect(ticksOf(scale([0, 97]), 5)).toEqual([0, 20, 40, 60, 80]));
  test('are decades on a wide log axis', () => expect(ticksOf(scale([1, 1e6], true), 7)).toEqual([1, 10, 100, 1000, 1e4, 1e5, 1e6]));
  test('are powers of two for bytes on a log axis', () => {
    expect(ticksOf(scale([1024, 8192], true), 8, 'B')).toEqual([1024, 2048, 4096, 8192]);
  });
  test('are whole binary units for bytes on a linear axis', () => {
    const ticks = ticksOf(scale([0, 4 * 2 ** 20]), 4, 'B');
    expect(ticks).toContain(2 * 2 ** 20);
    expect(ticks.every((tick) => tick % 2 ** 19 === 0)).toBe(true);
  });
  test('are few however the domain lies', () => {
    for (const domain of [[0.001, 0.0013], [3, 1e9], [-5, 5]] as [number, number][]) {
      expect(ticksOf(scale(domain), 5).length).toBeLessThanOrEqual(12);
    }
  });
});

describe('the end of an axis', () => {
  test('has the limit on it, unless that would flatten what is shown', () => {
    expect(topOf(10, 20)).toBeCloseTo(21, 9);
    expect(topOf(10, 5)).toBeCloseTo(10.5, 9);
    expect(topOf(10, 80)).toBeCloseTo(11, 9);
    expect(topOf(10)).toBeCloseTo(11, 9);
  });
  test('of nothing at all is the limit, or one', () => {
    expect(topOf(0, 51.2)).toBeCloseTo(53.76, 9);
    expect(topOf(0)).toBe(1);
  });
});
