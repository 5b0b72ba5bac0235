// How a number moved: sign, word and colour say the same, and little is called no difference.
import { describe, expect, test } from 'vitest';
import { judged, movedShare, movedText, noDifference, noDifferenceText } from '../src/format/change';

test('a share moved is after over before, less 1', () => {
  expect(movedShare(4, 5)).toBe(0.25);
  expect(movedShare(0, 0)).toBe(0);
  expect(movedShare(0, 1)).toBe(null);
  expect(movedShare(null, 1)).toBe(null);
  expect(movedShare(-4, -2)).toBe(0.5);
});

test('a share moved is read with its sign', () => {
  expect(movedText(0.1234)).toBe('+12.3 %');
  expect(movedText(-0.5)).toBe('−50.0 %');
  expect(movedText(0.0012)).toBe('+0.12 %');
  expect(movedText(256.4)).toBe('×257');
  expect(movedText(0.0001)).toBe('≈ 0');
  expect(movedText(0)).toBe('0');
  expect(movedText(null)).toBe('–');
});

describe('a move', () => {
  test('of 0.00229 % is no difference', () => {
    expect(judged(100, 100 - 0.00229, 'lower')).toBe('same');
    expect(movedText(movedShare(100, 100 - 0.00229))).toBe('≈ 0');
  });
  test('is told from none at the threshold that is stated', () => {
    expect(noDifferenceText).toBe(`${noDifference * 100} %`);
    expect(judged(1, 1 + noDifference * 0.99, 'higher')).toBe('same');
    expect(judged(1, 1 + noDifference * 1.01, 'higher')).toBe('better');
  });
  test('is better or worse by the direction of its metric', () => {
    expect(judged(2, 1, 'lower')).toBe('better');
    expect(judged(2, 1, 'higher')).toBe('worse');
    expect(judged(1, 2, 'lower')).toBe('worse');
    expect(judged(1, 2, 'neither')).toBe('neither');
  });
  test('from 0 is judged as well', () => {
    expect(judged(0, 0.2, 'lower')).toBe('worse');
    expect(judged(0, 0, 'lower')).toBe('same');
  });
});
