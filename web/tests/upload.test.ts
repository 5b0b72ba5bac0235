// What a refused upload asks for, and what is sent next.
import { describe, expect, test } from 'vitest';
import { askedFor, modelNameOf, together } from '../src/api/upload';
import type { Problem } from '../src/api/types';

const problem = (more: object) => ({ type: '', title: '', status: 422, code: '', where: '', detail: '', ...more }) as Problem;

describe('a refused upload asks for', () => {
  test('the sizes and values of its query, sizes with an example, values empty', () => {
    expect(askedFor(problem({ give: 'dim=B=1&input=sr=VALUE', unbound: ['B'] }))).toEqual([
      { kind: 'dim', name: 'B', value: '1' }, { kind: 'input', name: 'sr', value: '' },
    ]);
  });
  test('names that hold signs of a query', () => {
    expect(askedFor(problem({ give: `dim=${encodeURIComponent('past + 1=a&b=64')}` }))).toEqual([{ kind: 'dim', name: 'past + 1=a&b', value: '64' }]);
  });
  test('unbound dimensions alone where there is no more', () => {
    expect(askedFor(problem({ unbound: ['batch'] }))).toEqual([{ kind: 'dim', name: 'batch', value: '' }]);
  });
  test('nothing where nothing given would help', () => expect(askedFor(problem({}))).toEqual([]));
});

test('what was said before stays and is not asked for twice', () => {
  const said = [{ kind: 'dim' as const, name: 'B', value: '3' }];
  expect(together(said, [{ kind: 'dim', name: 'B', value: '1' }, { kind: 'input', name: 'B', value: '' }])).toEqual([
    { kind: 'dim', name: 'B', value: '3' }, { kind: 'input', name: 'B', value: '' },
  ]);
});

test('a file gives its name to the model', () => expect(modelNameOf('my model (1).onnx')).toBe('my-model-1'));
