// How a list of workloads becomes the text that the API reads, and back.
import { describe, expect, test } from 'vitest';
import { isMix, mixOf, mixText } from '../src/models/mix';

describe('a mix', () => {
  test('is read from its text and written again', () => {
    expect(mixOf('sd15:3+sdxl')).toEqual([{ model: 'sd15', weight: 3 }, { model: 'sdxl', weight: 1 }]);
    for (const text of ['sd15', 'sd15:3+sdxl', 'a:0.25+b:0.5+c']) expect(mixText(mixOf(text))).toBe(text);
  });
  test('of one workload has no weight', () => expect(mixText([{ model: 'sd15', weight: 3 }])).toBe('sd15'));
  test('has weights above 0, at most a million', () => {
    expect(isMix('sd15:0.5+sdxl')).toBe(true);
    for (const wrong of ['sd15:0+sdxl', 'sd15:-1+sdxl', 'sd15:NaN+sdxl', 'sd15:2000000+sdxl']) expect(isMix(wrong), wrong).toBe(false);
  });
});
