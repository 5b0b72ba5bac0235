// Formulas in the address and in a sweep's spec.
import { describe, expect, test } from 'vitest';
import type { Sweep } from '../src/api/types';
import { constraintLimits, constraintQueries, encodeFormulas, formulasOf, metricOf, objectiveName, parseFormulas, queryOf, requestOf } from '../src/sweep/formulas';

const line = 'max:per_watt [frame/J]=throughput_fps / power_w';

describe('formulas', () => {
  test('are a line each, and the same lines again', () => {
    const [one, two] = parseFormulas(`${line}\n\n twice = cores == 2 \n`);
    expect(one).toEqual({ name: 'per_watt', unit: 'frame/J', text: 'throughput_fps / power_w', better: 'higher', own: false });
    expect(two).toEqual({ name: 'twice', unit: '', text: 'cores == 2', better: 'neither', own: false });
    expect(encodeFormulas([one!, two!])).toBe(`${line}\ntwice=cores == 2`);
    expect(queryOf(one!)).toBe(line.slice(4));
    expect(parseFormulas('')).toEqual([]);
    expect(metricOf(one!)).toEqual({ name: 'per_watt', unit: 'frame/J', better: 'higher', doc: { en: one!.text, ja: one!.text } });
  });
  test('that are none are left for the server to refuse', () => {
    expect(parseFormulas('hello')[0]).toMatchObject({ name: 'hello', text: '' });
    expect(requestOf('hello').metrics).toEqual({ hello: { formula: '', unit: '' } });
  });
  test('of a sweep come first, better as its objectives say', () => {
    const sweep = { objectives: ['min:loss', 'area_mm2'], spec: { metrics: { loss: { formula: '1 / latency_s', unit: '1/s' }, two: '2' } } } as unknown as Sweep;
    expect(formulasOf(sweep, `loss=3\n${line}`).map((one) => [one.name, one.better, one.own])).toEqual([
      ['loss', 'lower', true], ['two', 'neither', true], ['per_watt', 'higher', false],
    ]);
    expect(formulasOf({ objectives: [], spec: {} } as unknown as Sweep, '')).toEqual([]);
  });
  test('that a sweep has as constraints are columns of 1 where they hold', () => {
    const sweep = { spec: { constraints: ['cores < 4', 'area_mm2 <= 9'] } } as unknown as Sweep;
    expect(constraintQueries(sweep)).toEqual(['own_constraint_1=if(cores < 4, 1, 0)', 'own_constraint_2=if(area_mm2 <= 9, 1, 0)']);
    expect(constraintLimits(sweep)[1]).toEqual({ metric: 'own_constraint_2', most: false, value: 1 });
    expect(constraintQueries({ spec: {} } as unknown as Sweep)).toEqual([]);
  });
  test('become metrics and objectives of a new sweep', () => {
    expect(requestOf(`${line}\ntwice=2*cores`)).toEqual({
      metrics: { per_watt: { formula: 'throughput_fps / power_w', unit: 'frame/J' }, twice: { formula: '2*cores', unit: '' } },
      objectives: ['max:per_watt'],
    });
    expect(['max:a', 'min:b', 'c'].map(objectiveName)).toEqual(['a', 'b', 'c']);
  });
});
