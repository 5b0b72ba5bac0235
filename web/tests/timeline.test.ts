// Sums and series over a program.
import { describe, expect, test } from 'vitest';
import type { Instruction } from '../src/api/types';
import { binned, instructionAt, stepPath } from '../src/chart/timeline';
import { cyclesBy, dramBytesPerCycle, lanesOf } from '../src/point/sums';

const run = (start_cycle: number, end_cycle: number, part: Partial<Instruction> = {}): Instruction => ({
  index: 0, name: '', op: 'conv2d', start_cycle, end_cycle, limiter: 'compute', stall_weights_cycles: 0,
  stall_activations_cycles: 0, dram_weights_bytes: 0, dram_activations_in_bytes: 0, dram_activations_out_bytes: 0,
  dsram_read_side_bytes: 0, dsram_write_side_bytes: 0, stackram_bytes: 0, psram_bytes: 0, macs: 0, energy_j: 0, output_shape: [],
  busy_cycles: {} as Instruction['busy_cycles'], ...part,
});

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
  test('a step path goes along each instruction and closes at the base', () => {
    expect(stepPath(program, (one) => one.dram_weights_bytes, (c) => c, (v) => 20 - v, true)).toBe('M0.0,20.0V10.0H0.0V10.0H4.0V14.0H6.0V20.0Z');
  });
});

describe('sums', () => {
  test('cycles by limiter add up, the most first', () => {
    const bars = cyclesBy([run(0, 4), run(4, 10, { limiter: 'overhead' }), run(10, 11)], (one) => one.limiter, (name) => name);
    expect(bars.map((bar) => [bar.name, bar.value])).toEqual([['overhead', 6], ['compute', 5]]);
  });
  test('DRAM bytes a cycle: width, two transfers, ratio, efficiency', () => {
    expect(dramBytesPerCycle({ dram_bus_bits: 128, dram_clock_ratio: 2, dram_efficiency: 0.8 })).toBeCloseTo(51.2, 9);
    expect(dramBytesPerCycle({})).toBeNull();
  });
  test('equal roofs are one line', () => {
    const machine = { conv_lanes_in: 2, conv_lanes_out: 2, conv_lanes_pixel: 2, linear_lanes_m: 2, linear_lanes_n: 4, linear_lanes_k: 1 };
    expect(lanesOf(machine)).toEqual([{ name: 'conv, linear', lanes: 8 }]);
  });
});
