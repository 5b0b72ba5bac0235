// Series over a program's cycles: steps per instruction, or rates gathered into bins.
import type { Instruction } from '../api/types';

/** An SVG path of a value that holds from each instruction's start to the next one's, closed down to `base`. Requires that they are in time. */
export function stepPath(
  program: Instruction[], value: (one: Instruction) => number, x: (cycle: number) => number, y: (value: number) => number,
  closed: boolean,
): string {
  const first = program[0];
  const last = program[program.length - 1];
  if (!first || !last) return '';
  const at = (pixel: number) => pixel.toFixed(1);
  let path = closed ? `M${at(x(first.start_cycle))},${at(y(0))}V${at(y(value(first)))}` : `M${at(x(first.start_cycle))},${at(y(value(first)))}`;
  let lastY = '';
  for (const one of program) {
    const level = at(y(value(one)));
    if (level !== lastY) path += `H${at(x(one.start_cycle))}V${level}`;
    lastY = level;
  }
  path += `H${at(x(endOf(program)))}`;
  return closed ? `${path}V${at(y(0))}Z` : path;
}

/**
 * An instruction's amounts spread evenly over its cycles and summed into `bins` bins of equal length.
 * Example: 10 over cycles 0..4 and 6 over 4..6, three bins of 2 cycles: 5, 5, 6.
 */
export function binned(program: Instruction[], amount: (one: Instruction) => number, bins: number, cycles: number): Float64Array {
  const sums = new Float64Array(bins);
  if (cycles <= 0) return sums;
  const width = cycles / bins;
  for (const one of program) {
    const total = amount(one);
    const length = one.end_cycle - one.start_cycle;
    if (total === 0 || length <= 0) continue;
    const from = Math.max(0, Math.floor(one.start_cycle / width));
    const to = Math.min(bins - 1, Math.floor((one.end_cycle - 1e-9) / width));
    for (let bin = from; bin <= to; bin++) {
      const low = Math.max(one.start_cycle, bin * width);
      const high = Math.min(one.end_cycle, (bin + 1) * width);
      if (high > low) sums[bin] = (sums[bin] as number) + (total * (high - low)) / length;
    }
  }
  return sums;
}

/** Sorts by when they begin: where operators overlap that is not the order of the program. */
export const inTime = (program: Instruction[]): Instruction[] => [...program].sort((a, b) => a.start_cycle - b.start_cycle);

/** When the last of them ends. */
export const endOf = (program: Instruction[]): number => program.reduce((end, one) => Math.max(end, one.end_cycle), 0);

/** The instruction that runs at a cycle, of several the one begun last: a search by halves. Requires that they are in time. */
export function instructionAt(program: Instruction[], cycle: number): Instruction | undefined {
  let low = 0;
  let high = program.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((program[middle] as Instruction).start_cycle <= cycle) low = middle;
    else high = middle - 1;
  }
  for (; low >= 0; low--) {
    const one = program[low];
    if (one && cycle >= one.start_cycle && cycle <= one.end_cycle) return one;
  }
  return undefined;
}
