// From the form to the request.
import { describe, expect, test } from 'vitest';
import type { Parameter } from '../src/api/types';
import { modelNameOf } from '../src/api/upload';
import { axisOf, draftFor, rangeCount, sweepRequest, type AxisDraft, type SweepDraft } from '../src/form/axes';
import { changedFrom, changesOf, decodeSettings, encodeSettings, groupsOf, inputText, isShown, parseValue, settingsOf } from '../src/form/values';

const parameter = (part: Partial<Parameter>): Parameter => ({
  name: 'cores', type: 'count', effect: 'cost', group: 'cores', unit: '', default: 4, min: 1, max: 4096, choices: [], shown_with: [], more_gives: 'rate',
  doc: { en: '', ja: '' }, ...part,
});
const cores = parameter({});
const psram = parameter({ name: 'psram_bytes', group: 'sram', unit: 'B', default: 8388608, min: 1024, max: 2 ** 40 });
const ratio = parameter({ name: 'dram_clock_ratio', type: 'decimal', group: 'dram', default: 2, min: 0.01, max: 64 });
const fusion = parameter({
  name: 'fusion', type: 'choice', group: 'options', default: 'none', min: null, max: null,
  choices: ['none', 'pointwise'],
});
const hoist = parameter({ name: 'hoisted_context', type: 'flag', group: 'options', default: false, min: null, max: null });
const table = [cores, psram, ratio, fusion, hoist];
const faultOf = (one: Parameter, text: string) => {
  const parsed = parseValue(one, text);
  return 'fault' in parsed ? parsed.fault.key : null;
};
const draft = (part: Partial<AxisDraft>): AxisDraft => ({ parameter: 'cores', kind: 'values', values: '', min: '', max: '', by: '', ...part });

describe('parseValue', () => {
  test('takes bytes in binary units', () => expect(parseValue(psram, '16 MiB')).toEqual({ value: 16777216 }));
  test('refuses what is out of range, not whole or no number', () => {
    expect(faultOf(cores, '0')).toBe('fault.range');
    expect(faultOf(cores, '4097')).toBe('fault.range');
    expect(faultOf(cores, '4096')).toBeNull();
    expect(faultOf(cores, '1.5')).toBe('fault.whole');
    expect(faultOf(cores, 'many')).toBe('fault.number');
  });
  test('takes hundredths and no more', () => {
    expect(parseValue(ratio, '1.25')).toEqual({ value: 1.25 });
    expect(faultOf(ratio, '1.255')).toBe('fault.hundredths');
  });
  test('refuses a choice that is not one of them', () => {
    expect(parseValue(fusion, 'pointwise')).toEqual({ value: 'pointwise' });
    expect(faultOf(fusion, 'magic')).toBe('fault.choice');
  });
  test('what inputText writes means the same value', () => {
    for (const value of [1024, 1536, 8388608, 3 * 2 ** 30, 1000]) {
      expect(parseValue(psram, inputText(psram, Math.max(value, 1024)))).toEqual({ value: Math.max(value, 1024) });
    }
  });
});

describe('settings', () => {
  test('survive the address with their types', () => {
    const settings = { cores: 8, fusion: 'pointwise', hoisted_context: true, dram_clock_ratio: 1.5 };
    expect(decodeSettings(encodeSettings(settings), table)).toEqual(settings);
  });
  test('of the technology table survive the address and the way to the server and back', () => {
    const settings = { cores: 8, 'technology.n7.multiply.int8': 0.14, 'technology.dram.ddr4': 1e-7 };
    expect(decodeSettings(encodeSettings(settings), table)).toEqual(settings);
    const said = changesOf(settings);
    expect(said).toEqual({ cores: 8, technology: { 'n7.multiply.int8': 0.14, 'dram.ddr4': 1e-7 } });
    expect(settingsOf(said)).toEqual(settings);
    expect(changesOf({ cores: 8 })).toEqual({ cores: 8 });
    expect(decodeSettings('technology.n7.multiply.int8:0,technology.dram.ddr4:many', table)).toEqual({});
  });
  test('an address cannot bring in what the table does not allow', () => {
    expect(decodeSettings('cores:0,evil:1,fusion:strips,hoisted_context:maybe', table)).toEqual({});
  });
  test('only what differs from the preset is said', () => {
    expect(changedFrom({ cores: 4, fusion: 'none' }, { cores: 8, fusion: 'none' })).toEqual({ cores: 8 });
  });
  test('groups keep the order of the table', () => {
    expect(groupsOf(table).map((group) => group.name)).toEqual(['cores', 'sram', 'dram', 'options']);
  });
});

describe('isShown', () => {
  const share = parameter({ name: 'low_rank_share', shown_with: [{ parameter: 'fusion', values: ['pointwise'] }] });
  const either = parameter({ name: 'host_bus_bits', shown_with: [{ parameter: 'fusion', values: [] }, { parameter: 'hoisted_context', values: [] }] });
  const shown = (one: Parameter, machine: Record<string, string | number | boolean>) => isShown(one, table, (name) => machine[name]);
  test('of a parameter that belongs to no option always', () => expect(shown(cores, {})).toBe(true));
  test('with the values that are named', () => {
    expect(shown(share, { fusion: 'none' })).toBe(false);
    expect(shown(share, { fusion: 'pointwise' })).toBe(true);
  });
  test('with any but the default of either', () => {
    expect(shown(either, { fusion: 'none', hoisted_context: false })).toBe(false);
    expect(shown(either, { fusion: 'pointwise', hoisted_context: false })).toBe(true);
    expect(shown(either, { fusion: 'none', hoisted_context: true })).toBe(true);
  });
});

describe('axes', () => {
  test('a list of values is checked one by one', () => {
    expect(axisOf(draft({ values: '1, 2, 4' }), cores)).toEqual({ axis: { parameter: 'cores', values: [1, 2, 4] }, count: 3 });
    expect(axisOf(draft({ values: '1, 2, 2' }), cores)).toHaveProperty('fault.key', 'fault.twice');
    expect(axisOf(draft({ values: '' }), cores)).toHaveProperty('fault.key', 'fault.empty_axis');
  });
  test('flags and choices become values of their own type', () => {
    expect(axisOf(draft({ values: 'false, true' }), hoist)).toHaveProperty('axis.values', [false, true]);
    expect(axisOf(draftFor(fusion, 'none'), fusion)).toHaveProperty('axis.values', ['none', 'pointwise']);
  });
  test('a range counts both its ends', () => {
    expect(rangeCount(1, 20, 'step', 1)).toBe(20);
    expect(rangeCount(1, 20, 'step', 3)).toBe(7);
    expect(rangeCount(262144, 67108864, 'factor', 2)).toBe(9);
    expect(rangeCount(1, 1, 'factor', 2)).toBe(1);
  });
  test('a range in bytes takes units', () => {
    const result = axisOf(draft({ kind: 'factor', min: '1 MiB', max: '4 MiB', by: '2' }), psram);
    expect(result).toEqual({ axis: { parameter: 'psram_bytes', min: 1048576, max: 4194304, factor: 2 }, count: 3 });
  });
  test('a range that cannot be walked is refused', () => {
    expect(axisOf(draft({ kind: 'step', min: '4', max: '2', by: '1' }), cores)).toHaveProperty('fault.key', 'fault.order');
    expect(axisOf(draft({ kind: 'step', min: '1', max: '2', by: '0' }), cores)).toHaveProperty('fault.key', 'fault.step');
    expect(axisOf(draft({ kind: 'factor', min: '1', max: '2', by: '1' }), cores)).toHaveProperty('fault.key', 'fault.factor');
  });
  test('a first draft is always a valid axis', () => {
    for (const one of table) expect(axisOf(draftFor(one, one.default), one)).toHaveProperty('count');
  });
});

describe('requests', () => {
  const sweep: SweepDraft = {
    name: 'first', model: 'sd15', preset: 'essay', machine: { cores: 8, fusion: 'pointwise' }, axes: [], sampling: 'grid',
    seed: 1, count: 100, objectives: ['throughput_fps'], formulas: '', links: '', formats: '',
  };
  test('a swept parameter is not also fixed', () => {
    expect(sweepRequest(sweep, [{ parameter: 'cores', values: [1, 2] }]).machine).toEqual({ fusion: 'pointwise' });
  });
  test('rows that follow others are links, a line each, and are not fixed', () => {
    const { machine, links } = sweepRequest({ ...sweep, links: ' fusion = if(cores > 1, 1, 0)\n\nbatch' }, []);
    expect(links).toEqual([{ parameter: 'fusion', formula: 'if(cores > 1, 1, 0)' }, { parameter: 'batch', formula: '' }]);
    expect(machine).toEqual({ cores: 8 });
    expect(sweepRequest(sweep, [])).not.toHaveProperty('links');
  });
  test('a name that was left empty is not sent: the server makes one', () => {
    expect(sweepRequest({ ...sweep, name: ' ' }, [])).not.toHaveProperty('name');
    expect(sweepRequest({ ...sweep, name: ' first ' }, [])).toHaveProperty('name', 'first');
  });
  test('a count is said only of points that are drawn', () => {
    expect(sweepRequest(sweep, [])).not.toHaveProperty('count');
    for (const sampling of ['random', 'latin_hypercube', 'sobol'] as const)
      expect(sweepRequest({ ...sweep, sampling }, [])).toHaveProperty('count', 100);
  });
});

describe('uploads', () => {
  test('a file name becomes a model name', () => {
    expect(modelNameOf('My model (v2).ONNX')).toBe('My-model-v2');
    expect(modelNameOf('模型.onnx')).toBe('model');
    expect(modelNameOf(`${'a'.repeat(99)}.onnx`)).toHaveLength(64);
  });
});
