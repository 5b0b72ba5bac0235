// Points to pixels, and from columns to what is drawn.
import { describe, expect, test } from 'vitest';
import type { Columns } from '../src/api/types';
import { namedRgb, ramp } from '../src/chart/palette';
import { disc, heaped, opacity, packed, type Dots } from '../src/chart/raster';
import { admitted, colouring, encodeConstraints, layersOf, painted, parseConstraints, unplaced } from '../src/chart/scatter_model';

const dots = (points: [number, number][]): Dots => ({
  x: Float32Array.from(points, (p) => p[0]),
  y: Float32Array.from(points, (p) => p[1]),
  order: Uint32Array.from(points, (_, i) => i),
});
const all = (count: number) => Uint8Array.from({ length: count }, () => 1);

describe('raster', () => {
  test('a disc of radius 0 is one pixel, of radius 1 five', () => {
    expect(disc(0)).toHaveLength(1);
    expect(disc(1)).toHaveLength(5);
  });
  test('a point at the edge is cut off, one outside or not a number is not drawn', () => {
    const { count } = heaped(dots([[0, 0], [99, 99], [NaN, 1]]), [], 4, 4, 1);
    expect([...count].filter((value) => value === 1)).toHaveLength(3);
    expect([...count].reduce((sum, one) => sum + one)).toBe(3);
  });
  test('points that share a pixel are counted, and what they carry is added', () => {
    const { count, sums, most } = heaped(dots([[1, 1], [1, 1], [2, 2]]), [Uint8Array.from([0, 200, 7])], 4, 4, 0);
    expect([count[5], count[10], most]).toEqual([2, 1, 2]);
    expect([sums[0]?.[5], sums[0]?.[10]]).toEqual([200, 7]);
  });
  test('one point among many is still seen', () => {
    expect(opacity(1, 1000)).toBeGreaterThanOrEqual(120);
    expect(opacity(1000, 1000)).toBe(255);
    expect(opacity(0, 1000)).toBe(0);
  });
  test('100,000 points take less than a second', () => {
    const many = dots(Array.from({ length: 100_000 }, (_, i) => [(i * 7919) % 900, (i * 104729) % 500] as [number, number]));
    const channels = [0, 1, 2].map(() => new Uint8Array(100_000));
    const start = performance.now();
    heaped(many, channels, 900, 500, 2);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('a crowd of points', () => {
  const width = 60;
  const height = 40;
  /** Every place holds an int8 and an fp16 point: all of one kind come first, as a grid's index has them. */
  const formats = (count: number) => {
    const half = count / 2;
    const place = (i: number): [number, number] => [(i * 7919) % width, (i * 104729) % height];
    return {
      where: dots(Array.from({ length: count }, (_, i) => place(i % half))),
      cells: Array.from({ length: count }, (_, i) => (i < half ? 'int8' : 'fp16')),
    };
  };
  /** The share of the first name in a pixel's mix, from its red. */
  const shareOfFirst = (pixel: number) => {
    const [first, second] = [namedRgb(0, false)[0], namedRgb(1, false)[0]];
    return ((pixel & 255) - second) / (first - second);
  };
  const picture = (where: Dots, cells: string[], order = where.order) => {
    const paint = colouring(cells, all(cells.length), false, false, ['int8', 'fp16']);
    return painted({ ...where, order }, [new Uint32Array(), new Uint32Array(), new Uint32Array(), order], paint.channels, width, height, 1, false);
  };
  test.each([100, 10_000, 200_000])('half of which is int8 gives int8 half of the colour, at %i points', (count) => {
    const { where, cells } = formats(count);
    const drawn = [...picture(where, cells)].filter((pixel) => pixel !== 0);
    expect(drawn.length).toBeGreaterThan(30);
    const mean = drawn.reduce((sum, pixel) => sum + shareOfFirst(pixel), 0) / drawn.length;
    expect(mean).toBeGreaterThan(0.49);
    expect(mean).toBeLessThan(0.51);
  });
  test('looks the same in any order of its points', () => {
    const { where, cells } = formats(2000);
    const back = Uint32Array.from(where.order).reverse();
    expect(picture(where, cells, back)).toEqual(picture(where, cells));
  });
  test('mixes three to one where three of one lie on one of the other', () => {
    const where = dots([[3, 3], [3, 3], [3, 3], [3, 3]]);
    const pixel = picture(where, ['int8', 'int8', 'int8', 'fp16'])[3 * width + 3] as number;
    expect(shareOfFirst(pixel)).toBeCloseTo(0.75, 2);
  });
  test('of numbers has the colour of their mean, not a mix of the ends', () => {
    const where = dots([[3, 3], [3, 3], [9, 9]]);
    const paint = colouring([0, 10, 5], all(3), false, false);
    const pixels = painted(where, [new Uint32Array(), new Uint32Array(), new Uint32Array(), where.order], paint.channels, width, height, 0, false);
    expect(pixels[3 * width + 3]).toBe(pixels[9 * width + 9]);
    expect(pixels[3 * width + 3]).toBe(packed(...ramp(128 / 255, false)));
  });
  test('hides what a limit rules out, at the same place only', () => {
    const where = dots([[3, 3], [3, 3], [9, 9]]);
    const paint = colouring(['a', 'b', 'b'], all(3), false, false);
    const pixels = painted(where, [new Uint32Array(), Uint32Array.from([1, 2]), new Uint32Array(), Uint32Array.from([0])], paint.channels, width, height, 0, false);
    expect(pixels[3 * width + 3]).toBe(packed(...namedRgb(0, false)));
    expect(pixels[9 * width + 9]).not.toBe(0);
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
  test('layers are infeasible points on request, ruled out ones, those without a colour, the rest', () => {
    const keep = Uint8Array.from([1, 0, 0, 1]);
    const coloured = Uint8Array.from([1, 1, 1, 0]);
    expect(layersOf(keep, [1, 1, 0, 1], coloured, true).map((one) => [...one])).toEqual([[2], [1], [3], [0]]);
    expect(layersOf(keep, [1, 1, 0, 1], coloured, false).map((one) => [...one])).toEqual([[], [1], [3], [0]]);
  });
  test('names are coloured in the order of the choices, whatever comes first or is ruled out', () => {
    const paint = colouring(['b', 'a', 'b'], all(3), false, false, ['a', 'b']);
    expect(paint.names).toEqual([{ name: 'a', points: 1 }, { name: 'b', points: 2 }]);
    expect(colouring(['b', 'a'], all(2), false, false).names.map((one) => one.name)).toEqual(['a', 'b']);
  });
  test('names beyond the list have colours of their own', () => {
    const colours = Array.from({ length: 16 }, (_, k) => namedRgb(k, false).join());
    expect(new Set(colours).size).toBe(16);
  });
  test('a ramp is linear unless a logarithm is asked for, however far its ends are apart', () => {
    const cells = [1, 1000, 1e6];
    const linear = colouring(cells, all(3), false, false);
    expect([linear.log, ...(linear.channels[0] ?? [])]).toEqual([false, 0, 0, 255]);
    const log = colouring(cells, all(3), true, false);
    expect([log.log, ...(log.channels[0] ?? [])]).toEqual([true, 0, 128, 255]);
  });
  test('a point without a value, or with none that a logarithm shows, has no colour', () => {
    expect([...colouring([1, null, 0], all(3), false, false).coloured]).toEqual([1, 0, 1]);
    expect([...colouring([1, null, 0], all(3), true, false).coloured]).toEqual([1, 0, 0]);
  });
  test('the ends of a ramp are those of all feasible points', () => {
    expect(colouring(columns.columns.area_mm2, columns.feasible, false, false).range).toEqual([10, 90]);
  });
  test('points that have no place on two axes are counted', () => {
    const [x, y] = [Float64Array.from([1, 0, NaN, 2]), Float64Array.from([1, 1, 1, 1])];
    const shown = [Uint32Array.from([0, 1]), Uint32Array.from([2])];
    expect(unplaced(x, false, y, false, shown)).toBe(1);
    expect(unplaced(x, true, y, false, shown)).toBe(2);
  });
  test('colours are packed as ImageData stores them', () => expect(packed(1, 2, 3)).toBe(0xff030201));
});
