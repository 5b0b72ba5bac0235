// The best so far over the machines evaluated, as a line of steps.
import type { BestSoFar } from '../api/types';

export interface TraceStep {
  evaluated: number;
  value: number;
}

/** The first objective's value at each step; steps without a value are left out. */
export const stepsOf = (trace: BestSoFar[]): TraceStep[] =>
  trace.flatMap((one) => {
    const value = one.values[0];
    return typeof value === 'number' ? [{ evaluated: one.evaluated, value }] : [];
  });

/** A path that holds each value until the next, the last one to `end`. Example: 5 from 0, 3 from 4, to 6: M0,5 H4 V3 H6. */
export function tracePath(steps: TraceStep[], end: number, x: (evaluated: number) => number, y: (value: number) => number): string {
  const at = (pixel: number) => pixel.toFixed(1);
  const [first, ...rest] = steps;
  if (!first) return '';
  const start = `M${at(x(first.evaluated))},${at(y(first.value))}`;
  return `${start}${rest.map((one) => `H${at(x(one.evaluated))}V${at(y(one.value))}`).join('')}H${at(x(end))}`;
}
