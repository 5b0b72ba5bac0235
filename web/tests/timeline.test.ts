// Sums and series over a program.
import { describe, expect, test } from 'vitest';
import type { Instruction } from '../src/api/types';
import { binned, endOf, instructionAt, inTime, stepPath } from '../src/chart/timeline';
import { channelLabel, cyclesBy, limitsOf, roofLabel, roofNone, roofNote, roofsOf } from '../src/point/sums';

/** Figures that a test does not name are 0 where they are read, and otherwise left out. */
const run = (start_cycle: number, end_cycle: number, part: Partial<Instruction> = {}) => ({
  index: 0, name: '', op: 'conv2d', start_cycle, end_cycle, limiter: 'compute', stall_weights_cycles: 0, stall_activations_cycles: 0, stall_program_cycles: 0,
  dram_bytes: 0, dram_weights_bytes: 0, macs: 0, lane_macs: 0, output_shape: [], ...part,
}) as unknown as Instruction;

const words = (key: string, values?: Record<string, string | number>): string => `${key} ${values?.count ?? ''}`.trim();

describe('timeline', () => {
  const program = [run(0, 4, { dram_weights_bytes: 10 }), run(4, 6, { dram_weights_bytes: 6 })];
  test('bins are the example of the comment', () => {
    expect([...binned(program, (one) => one.dram_weights_bytes, 3, 6)]).toEqual([5, 5, 6]);
  });
  test('nothing is lost in bins that cut instructions', () => {
    const sum = binned(program, (one) => one.dram_weights_bytes, 4, 6).reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(16, 9);
  });
  test('the instruction at a cycle is found, gaps have none', () => {
    expect(instructionAt(program, 5)).toBe(program[1]);
    expect(instructionAt(program, 0)).toBe(program[0]);
    expect(instructionAt(program, 7)).toBeUndefined();
  });
  test('of instructions side by side the one begun last is found, the others while it does not run', () => {
    const [long, short, late] = [run(0, 13), run(4, 9), run(2, 3)];
    const ordered = inTime([long, short, late]);
    expect(ordered).toEqual([long, late, short]);
    expect(endOf(ordered)).toBe(13);
    expect([2.5, 3.5, 5, 10].map((cycle) => instructionAt(ordered, cycle))).toEqual([late, long, short, long]);
  });
  test('a step path goes along each instruction and closes at the base', () => {
    expect(stepPath(program, (one) => one.dram_weights_bytes, (c) => c, (v) => 20 - v, true)).toBe('M0.0,20.0V10.0H0.0V10.0H4.0V14.0H6.0V20.0Z');
  });
});

describe('sums', () => {
  test('cycles by limiter add up, the most first', () => {
    const bars = cyclesBy([run(0, 4), run(4, 10, { limiter: 'overhead' }), run(10, 11)], (one) => one.limiter, (name) => name);
    expect(bars.map((bar) => [bar.name, bar.value])).toEqual([['overhead', 6], ['compute', 5]]);
  });
  test('roofs are the engine\'s, named by their families and lanes', () => {
    const roofs = [{ families: ['conv2d' as const], lanes: 8, products_in_mac: 2, macs_per_cycle: 16 }, { families: ['linear' as const, 'matmul' as const], lanes: 5120, products_in_mac: 1, macs_per_cycle: 5120 }];
    expect(roofsOf(words, roofs)).toEqual([{ label: 'conv2d · 8 roofline.lanes × 2', rate: 16 }, { label: 'linear, matmul · 5,120 roofline.lanes', rate: 5120 }]);
    expect(channelLabel(1 / 79)).toBe('0.0127 B/cycle');
  });
  test('limits are the capacities that the engine says', () => {
    const sides = [{ memory: 'DSRAM0' as const, bytes: 3 << 20 }, { memory: 'DSRAM1' as const, bytes: 3 << 20 }, { memory: 'STACKRAM' as const, bytes: 1024 }];
    expect(limitsOf(sides, 'DSRAM')).toEqual([{ value: 3 << 20, label: 'DSRAM 3 MiB' }]);
    expect(limitsOf(sides, 'unified')).toEqual([]);
    const pairs = [{ memory: 'DSRAM0 of conv2d' as const, bytes: 1024 }, { memory: 'DSRAM1 of conv2d' as const, bytes: 1024 }, { memory: 'DSRAM0 of linear' as const, bytes: 4096 }, { memory: 'DSRAM0 of matmul' as const, bytes: 4096 }];
    expect(limitsOf(pairs, 'DSRAM').map((limit) => limit.label)).toEqual(['DSRAM (conv2d) 1 KiB', 'DSRAM (linear, matmul) 4 KiB']);
  });
  test('a roof says how many narrow products a MAC makes, where it makes several', () => {
    expect(roofLabel('conv', '8 lanes', 1)).toBe('conv · 8 lanes');
    expect(roofLabel('conv', '8 lanes', 2)).toBe('conv · 8 lanes × 2');
  });
  test('a roofline says of how many instructions no lane makes a product', () => {
    expect(roofNote(words, 1, 0)).toBe('roofline.note');
    expect(roofNote(words, 4, 3)).toBe('roofline.note roofline.cores 4 roofline.in_memory 3');
    expect(roofNone(words, 0)).toBe('roofline.none');
    expect(roofNone(words, 3)).toBe('roofline.in_memory 3');
  });
});
