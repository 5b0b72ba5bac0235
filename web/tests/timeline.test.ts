// Sums and series over a program.
import { describe, expect, test } from 'vitest';
import type { Instruction } from '../src/api/types';
import { binned, endOf, instructionAt, inTime, stepPath } from '../src/chart/timeline';
import { activeCores, channelShare, cyclesBy, dramBytes, dramBytesPerCycle, lanesOf, roofLabel, roofNone, roofNote } from '../src/point/sums';

const run = (start_cycle: number, end_cycle: number, part: Partial<Instruction> = {}): Instruction => ({
  index: 0, name: '', op: 'conv2d', start_cycle, end_cycle, limiter: 'compute', stall_weights_cycles: 0,
  stall_activations_cycles: 0, stall_program_cycles: 0, waiting_cycles: 0, dram_program_bytes: 0, dram_weights_bytes: 0, dram_activations_in_bytes: 0, dram_activations_out_bytes: 0,
  dsram_read_side_bytes: 0, dsram_write_side_bytes: 0, stackram_bytes: 0, psram_bytes: 0, macs: 0, lane_macs: 0, energy_j: 0, output_shape: [],
  busy_cycles: {} as Instruction['busy_cycles'], energy_parts_j: {} as Instruction['energy_parts_j'],
  frame_energy_j: { value: 0, least: 0, most: 0 }, frame_energy_parts_j: {} as Instruction['frame_energy_parts_j'], ...part,
});

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

const of = (role: string) => ({ role, parts: 1, dram_share: 1 });

describe('sums', () => {
  test('cycles by limiter add up, the most first', () => {
    const bars = cyclesBy([run(0, 4), run(4, 10, { limiter: 'overhead' }), run(10, 11)], (one) => one.limiter, (name) => name);
    expect(bars.map((bar) => [bar.name, bar.value])).toEqual([['overhead', 6], ['compute', 5]]);
  });
  test('DRAM bytes a cycle: width, two transfers, ratio, efficiency', () => {
    expect(dramBytesPerCycle({ dram_bus_bits: 128, dram_clock_ratio: 2, dram_efficiency: 0.8 })).toBeCloseTo(51.2, 9);
    expect(dramBytesPerCycle({})).toBeNull();
  });
  test('weights are read once for all cores, activations by each', () => {
    const one = run(0, 4, { dram_weights_bytes: 100, dram_activations_in_bytes: 3, dram_activations_out_bytes: 4 });
    expect([dramBytes(one), dramBytes(one, 10)]).toEqual([107, 170]);
  });
  test('cores are active as far as there are steps for them; other stages are one core', () => {
    expect([1, 7, 10, 20, 40].map((cores) => activeCores(of('core'), { cores, steps: 20 }))).toEqual([1, 7, 10, 20, 20]);
    expect(activeCores(of('core'), { cores: 12, steps: 20 })).toBe(10);
    expect(activeCores(of('core'), { cores: 12, steps: 20, memory_hierarchy: 'crossbar' })).toBe(12);
    expect(activeCores(of('decoder'), { cores: 12, steps: 20, memory_hierarchy: 'crossbar' })).toBe(1);
    expect(activeCores(of('network'), { cores: 12, steps: 20 })).toBe(12);
    expect(activeCores(of('decoder'), { cores: 12, steps: 20 })).toBe(1);
  });
  test('the cores have what encoder and decoder leave of the channel', () => {
    const machine = { encoder_dram_share: 0.05, decoder_dram_share: 0.1, mode: 'text_to_image', vae_stage: 'core' };
    expect(channelShare(of('core'), machine)).toBeCloseTo(0.9, 9);
    expect(channelShare(of('core'), { ...machine, mode: 'image_to_image' })).toBeCloseTo(0.85, 9);
    expect(channelShare(of('core'), { ...machine, vae_stage: 'off_chip' })).toBe(1);
    expect(channelShare(of('decoder'), machine)).toBe(0.1);
    expect(channelShare(of('network'), machine)).toBe(1);
  });
  test('a part in series is one core that has its own share of the channel; shared heads are one frame', () => {
    const part = { role: 'network', parts: 4, dram_share: 0.125 };
    expect(activeCores(part, { cores: 12, steps: 20 })).toBe(1);
    expect(channelShare(part, { encoder_dram_share: 0.05, decoder_dram_share: 0.1 })).toBe(0.125);
    expect(activeCores(of('network'), { cores: 12, steps: 20, branches: 'parallel' })).toBe(1);
    expect(activeCores(of('network'), { cores: 12, steps: 20, branches: 'channels' })).toBe(1);
  });
  test('shared MACs are the convolution array alone', () => {
    const machine = { mac_sharing: 'shared', conv_lanes_in: 2, conv_lanes_out: 2, conv_lanes_pixel: 2, linear_lanes_m: 9, linear_lanes_n: 4, linear_lanes_k: 1 };
    expect(lanesOf(machine, 'core')).toEqual([{ name: 'conv', lanes: 8 }]);
  });
  test('equal roofs are one line', () => {
    const machine = { conv_lanes_in: 2, conv_lanes_out: 2, conv_lanes_pixel: 2, linear_lanes_m: 2, linear_lanes_n: 4, linear_lanes_k: 1 };
    expect(lanesOf(machine, 'core')).toEqual([{ name: 'conv, linear', lanes: 8 }]);
  });
  test('a circuit has roofs of its own lanes, and of the cores\' where it has none', () => {
    const machine = {
      vae_stage: 'circuit', vae_conv_lanes_in: 4, vae_conv_lanes_out: 0, vae_matmul_lanes_k: 9,
      conv_lanes_in: 2, conv_lanes_out: 2, conv_lanes_pixel: 2, linear_lanes_m: 1, linear_lanes_n: 1, linear_lanes_k: 1,
    };
    expect(lanesOf(machine, 'decoder')).toEqual([{ name: 'conv', lanes: 16 }, { name: 'linear', lanes: 9 }]);
    expect(lanesOf(machine, 'core')).toEqual([{ name: 'conv', lanes: 8 }, { name: 'linear', lanes: 1 }]);
    expect(lanesOf({ ...machine, vae_stage: 'core' }, 'decoder')).toEqual(lanesOf(machine, 'core'));
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
