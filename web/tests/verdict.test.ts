// Verdicts: is nothing compared no pass?
import { describe, expect, test } from 'vitest';
import type { ValidationSummary } from '../src/api/types';
import { verdictIn, verdictOf } from '../src/validation/verdict';

describe('a verdict', () => {
  test('is a pass only where something was compared and nothing differs', () => {
    expect(verdictOf(0, 3)).toBe('pass');
    expect(verdictOf(1, 3)).toBe('differs');
    expect(verdictOf(0, 0)).toBe('not_compared');
  });

  test('of a machine that cannot run the model is that', () => {
    const summary = { feasible: false, verdict: 'not_compared' } as ValidationSummary;
    expect(verdictIn(summary)).toBe('infeasible');
    expect(verdictIn({ ...summary, feasible: true })).toBe('not_compared');
  });
});
