// Boxes of the memory map.
import { describe, expect, test } from 'vitest';
import type { MemoryRectangle } from '../src/api/types';
import { boxAt, boxesOf, inOrder, moved, shadeOf } from '../src/chart/address_map';
import type { Scale } from '../src/chart/scale';

const rectangle = (start_cycle: number, end_cycle: number, address: number, bytes: number): MemoryRectangle => ({
  memory: 'STACKRAM', name: 'a', address, bytes, from: 0, to: 1, start_cycle, end_cycle,
});
const x: Scale = { log: false, domain: [0, 100], range: [0, 200] };
const y: Scale = { log: false, domain: [0, 10], range: [50, 0] };

describe('address map', () => {
  test('boxes are the example of the comment', () => {
    expect(boxesOf([rectangle(10, 20, 2, 4)], x, y)[0]).toMatchObject({ x: 20, y: 20, width: 20, height: 20 });
  });
  test('nothing is too small to be seen', () => {
    expect(boxesOf([rectangle(10, 10, 0, 0)], x, y)[0]).toMatchObject({ width: 0.5, height: 0.5 });
  });
  test('the box under a point is found, empty space has none', () => {
    const boxes = boxesOf([rectangle(0, 50, 0, 5), rectangle(50, 100, 5, 5)], x, y);
    expect(boxAt(boxes, 10, 40)).toBe(boxes[0]);
    expect(boxAt(boxes, 150, 10)).toBe(boxes[1]);
    expect(boxAt(boxes, 10, 10)).toBeUndefined();
  });
  test('the keys go through boxes by start and address and stop at the ends', () => {
    const sorted = inOrder([rectangle(5, 9, 0, 1), rectangle(0, 9, 3, 1), rectangle(0, 9, 1, 1)]);
    expect(sorted.map((one) => one.address)).toEqual([1, 3, 0]);
    expect(moved('ArrowRight', -1, 3)).toBe(0);
    expect(moved('ArrowRight', 2, 3)).toBe(2);
    expect(moved('ArrowLeft', 0, 3)).toBe(0);
    expect(moved('End', 0, 3)).toBe(2);
    expect(moved('a', 0, 3)).toBeUndefined();
    expect(moved('Home', 0, 0)).toBeUndefined();
  });
  test('a name keeps its shade', () => {
    expect(shadeOf('/conv_in/Conv_output_0')).toBe(shadeOf('/conv_in/Conv_output_0'));
    expect(new Set(['a', 'b', 'c', 'd'].map(shadeOf)).size).toBeGreaterThan(2);
  });
});
