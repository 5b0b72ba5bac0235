// How long a sweep still takes, and when nobody can tell.
import { describe, expect, test } from 'vitest';
import { roundedUp, secondsLeft, type Sample } from '../src/sweep/remaining';

const even = (steps: number, gap: number, points: number): Sample[] => Array.from({ length: steps + 1 }, (_, k) => ({ at: k * gap, done: k * points }));

describe('seconds left', () => {
  test('are the example of its comment', () => expect(secondsLeft(even(10, 1, 10), 200, 10)).toBeCloseTo(10, 9));
  test('grow less while one waits for the next step', () => expect(secondsLeft(even(10, 1, 10), 200, 10.5)).toBeCloseTo(9.5, 9));
  test('are not known of the last batch of a few: a program is being compiled', () => {
    // 256 of 300 points came at once, and then for 21 s nothing: "0 s" would stand all that time.
    const samples = [{ at: 0, done: 0 }, { at: 0.4, done: 256 }];
    for (const now of [0.5, 2, 6, 21]) expect(secondsLeft(samples, 300, now)).toBeNull();
  });
  test('are no longer known when nothing has come for longer than ever before', () => {
    const samples = even(20, 0.5, 256);
    expect(secondsLeft(samples, 5300, 10)).not.toBeNull();
    for (const now of [10.8, 12, 20]) expect(secondsLeft(samples, 5300, now)).toBeNull();
  });
  test('are not known at the start, and not while the rate changes', () => {
    expect(secondsLeft(even(3, 1, 10), 100, 3)).toBeNull();
    expect(secondsLeft(even(20, 0.1, 10), 1000, 2)).toBeNull();
    const slower = [...even(10, 1, 100), ...even(10, 1, 10).slice(1).map((one) => ({ at: one.at + 10, done: one.done + 1000 }))];
    expect(secondsLeft(slower, 2000, 20)).toBeNull();
  });
  test('are not said of a sweep that is done', () => expect(secondsLeft(even(10, 1, 10), 100, 10)).toBeNull());
});

test('a time left is said coarsely and never below 5 s', () => {
  expect([0, 0.2, 5, 6, 41, 61, 100, 3000].map(roundedUp)).toEqual([5, 5, 5, 10, 45, 70, 100, 3000]);
});
