// Points to pixels, and from columns to what is drawn.
import { describe, expect, test } from 'vitest';
import type { Columns } from '../src/api/types';
import { density, disc, nearest, opacity, packed, rasterise, type Dots } from '../src/chart/raster';
import { admitted, colouring, drawingOrder, encodeConstraints, parseConstraints } from '../src/chart/scatter_model';

const dots = (points: [number, number, number][]): Dots => ({
  x: Float32Array.from(points, (p) => p[0]),
  y: Float32Array.from(points, (p) => p[1]),
  colour: Uint32Array.from(points, (p) => p[2]),
  order: Uint32Array.from(points, (_, i) => i),
});

describe('raster', () => {
  test('a disc of radius 0 is one pixel, of radius 1 five', () => {
    expect(disc(0)).toHaveLength(1);
    expect(disc(1)).toHaveLength(5);
  });
  test('the last point of the order is on top', () => {
    expect(rasterise(dots([[1, 1, 7], [1, 1, 9]]), 3, 3, 0)[4]).toBe(9);
  });
  test('a point at the edge is cut off, one outside or not a number is not drawn', () => {
    const pixels = rasterise(dots([[0, 0, 5], [99, 99, 6], [NaN, 1, 7]]), 4, 4, 1);
    expect([...pixels].filter((value) => value === 5)).toHaveLength(3);
    expect([...pixels].some((value) => value === 6 || value === 7)).toBe(false);
  });
  test('density counts points that share a pixel', () => {
    const { count, most } = density(dots([[1, 1, 0], [1, 1, 0], [2, 2, 0]]), 4, 4, 0);
    expect([count[5], count[10], most]).toEqual([2, 1, 2]);
  });
  test('one point among many is still seen', () => {
    expect(opacity(1, 1000)).toBeGreaterThanOrEqual(120);
    expect(opacity(1000, 1000)).toBe(255);
    expect(opacity(0, 1000)).toBe(0);
  });
  test('nearest finds the closest point within reach, or none', () => {
    const some = dots([[0, 0, 0], [10, 0, 0], [11, 0, 0]]);
    expect(nearest(some, 9, 0, 5, () => true)).toBe(1);
    expect(nearest(some, 9, 0, 5, (i) => i !== 1)).toBe(2);
    expect(nearest(some, 50, 50, 5, () => true)).toBe(-1);
  });
  test('100,000 points take less than a second', () => {
    const many = dots(Array.from({ length: 100_000 }, (_, i) => [(i * 7919) % 900, (i * 104729) % 500, 1] as [number, number, number]));
    const start = performance.now();
    rasterise(many, 900, 500, 2);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('scatter model', () => {
  const columns: Columns = { count: 3, index: [0, 1, 2], feasible: [1, 1, 0], columns: { area_mm2: [10, 90, null], kind: ['a', 'b', 'a'] } };
  test('constraints survive the address', () => {
    const text = 'area_mm2<400,throughput_fps>1.5';
    expect(encodeConstraints(parseConstraints(text))).toBe(text);
    expect(parseConstraints('nonsense,area_mm2<x')).toEqual([]);
  });
  test('a point is admitted when feasible and within every limit', () => {
    expect([...admitted(columns, [])]).toEqual([1, 1, 0]);
    expect([...admitted(columns, parseConstraints('area_mm2<50'))]).toEqual([1, 0, 0]);
  });
  test('infeasible points are drawn first, and only on request', () => {
    const keep = Uint8Array.from([1, 0, 0]);
    expect([...drawingOrder(keep, columns.feasible, true)]).toEqual([2, 1, 0]);
    expect([...drawingOrder(keep, columns.feasible, false)]).toEqual([1, 0]);
  });
  test('names are coloured by name, numbers by a ramp over admitted points', () => {
    const keep = Uint8Array.from([1, 1, 0]);
    expect(colouring(columns.columns.kind, keep, columns.feasible, false).names).toEqual(['a', 'b']);
    const paint = colouring(columns.columns.area_mm2, keep, columns.feasible, false);
    expect(paint.range).toEqual([10, 90]);
    expect(paint.colours[0]).not.toBe(paint.colours[1]);
  });
  test('colours are packed as ImageData stores them', () => expect(packed(1, 2, 3)).toBe(0xff030201));
});
