// Reasons why points are infeasible, gathered by kind.
import type { Cell } from '../api/types';

export interface ReasonKind {
  /** The reason of the first such point, as it was given. */
  example: string;
  /** The index of that point. */
  index: number;
  count: number;
}

/** The part that reasons of a kind have in common: the last clause, with every number left out. */
export function kindOf(reason: string): string {
  const clauses = reason.split(': ');
  return (clauses[clauses.length - 1] ?? reason).replace(/\d[\d,.]*/g, '#');
}

/**
 * Reasons by kind, the most frequent first. `rows` are pairs of a point's number and its reason. Example: "a: needs 5 B of
 * DSRAM" and "b: needs 7 B of DSRAM" are one kind, counted 2.
 */
export function reasonKinds(rows: Cell[][]): ReasonKind[] {
  const kinds = new Map<string, ReasonKind>();
  for (const [index, reason] of rows) {
    const key = kindOf(String(reason));
    const known = kinds.get(key);
    if (known) known.count += 1;
    else kinds.set(key, { example: String(reason), index: Number(index), count: 1 });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count || a.index - b.index);
}
