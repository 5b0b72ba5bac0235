// The counters of a stage as rows: both sides of each, and which belong together.
import type { ComparedPass, StageCounters, ValidationResult } from '../api/types';

export type Group = 'time' | 'stalls' | 'beats' | 'dram';
export const groups: Group[] = ['time', 'stalls', 'beats', 'dram'];

export function groupOf(counter: string): Group {
  if (counter.startsWith('stall_')) return 'stalls';
  if (counter.endsWith('_beats')) return 'beats';
  return counter.startsWith('dram_') ? 'dram' : 'time';
}

export interface CounterTotal {
  name: string;
  unit: string;
  estimated: number;
  executed: number | null;
}

/** The totals of a pass; of the last one the peaks of the stage, too. */
export function totalsOf(result: ValidationResult, stage: StageCounters, pass: ComparedPass): CounterTotal[] {
  const totals = result.counters.flatMap((counter, r): CounterTotal[] => {
    const [estimated, executed] = [pass.estimated[r] ?? null, pass.executed[r] ?? null];
    return estimated === null ? [] : [{ name: counter.name, unit: counter.unit, estimated, executed }];
  });
  const last = stage.passes[stage.passes.length - 1] === pass;
  return last ? [...totals, ...stage.peaks.map((peak) => ({ name: peak.name, unit: 'B', estimated: peak.estimated, executed: peak.executed }))] : totals;
}

export interface InstructionRow {
  index: number;
  layer: string;
  op: string;
  estimated: number[];
  executed: number[];
  differences: number;
}

/** The instructions of a pass of which each was compared. */
export function instructionRows(stage: StageCounters, pass: ComparedPass): InstructionRow[] {
  return stage.index.map((index, i) => {
    const [estimated, executed] = [pass.instructions_estimated?.[i] ?? [], pass.instructions_executed?.[i] ?? []];
    return {
      index, layer: stage.layers[i] ?? '', op: stage.operations[i] ?? '', estimated, executed,
      differences: estimated.filter((value, r) => value !== executed[r]).length,
    };
  });
}

/** The passes of which each instruction was compared: the cold one and the last. */
export const tracedPasses = (stage: StageCounters) => stage.passes.filter((pass) => pass.instructions_estimated !== undefined);
