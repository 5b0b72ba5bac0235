// Reasons of infeasible points by kind.
import { expect, test } from 'vitest';
import { kindOf, reasonKinds } from '../src/sweep/reasons';

test('a kind is the last clause without its numbers', () => {
  expect(kindOf('sd15: /conv_in/Conv: needs 1234 B of DSRAM, which has 1000')).toBe('needs # B of DSRAM, which has #');
  expect(kindOf('too small')).toBe('too small');
});

test('reasons are counted by kind, the most frequent first, each with its first point', () => {
  const rows = [[0, 'a: needs 5 B of PSRAM'], [1, 'b: needs 7 B of DSRAM'], [4, 'c: needs 9 B of DSRAM']];
  expect(reasonKinds(rows)).toEqual([
    { example: 'b: needs 7 B of DSRAM', index: 1, count: 2 },
    { example: 'a: needs 5 B of PSRAM', index: 0, count: 1 },
  ]);
});
