// Does a draft become the revision that it says, and nothing while it says nothing?
import { describe, expect, test } from 'vitest';
import type { Parameter, Sweep } from '../src/api/types';
import { emptyDraft, revisionRequest, valuesOf } from '../src/sweep/revision';

const cores = { name: 'cores', type: 'count', min: 1, max: 100, unit: 'cores', choices: [] } as unknown as Parameter;
const sweep = { spec: { axes: [{ parameter: 'cores', values: [1, 2, 4] }] } } as unknown as Sweep;

describe('a revision', () => {
  test('of the same settings needs nothing but its kind', () => {
    expect(revisionRequest(emptyDraft, undefined)).toEqual({ request: { kind: 'clone' } });
    expect(revisionRequest({ ...emptyDraft, kind: 'retry', name: ' again ' }, undefined)).toEqual({ request: { kind: 'retry', name: 'again' } });
  });
  test('says nothing before something changes', () => {
    expect(revisionRequest({ ...emptyDraft, kind: 'extend' }, cores)).toBeNull();
    expect(revisionRequest({ ...emptyDraft, kind: 'narrow', constraint: ' ' }, undefined)).toBeNull();
  });
  test('adds values and points, keeps values and adds a constraint', () => {
    expect(revisionRequest({ ...emptyDraft, kind: 'extend', values: '8, 16', count: '20' }, cores)).toEqual({ request: { kind: 'extend', axes: [{ parameter: 'cores', values: [8, 16] }], count: 20 } });
    expect(revisionRequest({ ...emptyDraft, kind: 'narrow', values: '2', constraint: 'area_mm2 <= 9', count: '20' }, cores)).toEqual({ request: { kind: 'narrow', axes: [{ parameter: 'cores', values: [2] }], constraints: ['area_mm2 <= 9'] } });
  });
  test('tells what is wrong with a value or a count', () => {
    expect(revisionRequest({ ...emptyDraft, kind: 'extend', values: '800' }, cores)).toMatchObject({ fault: { key: 'fault.range' } });
    expect(revisionRequest({ ...emptyDraft, kind: 'extend', count: '1.5' }, undefined)).toMatchObject({ fault: { key: 'fault.whole' } });
  });
  test('begins with the values that the axis has where some are to be kept', () => {
    expect(valuesOf(sweep, 'narrow', cores)).toBe('1, 2, 4');
    expect(valuesOf(sweep, 'extend', cores)).toBe('');
  });
});
