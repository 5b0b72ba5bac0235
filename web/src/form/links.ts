// Rows that follow others: what a person typed, a line each, as a request says it.
import type { Link, Machine } from '../api/types';

/** `psram_port_bits = 128 * conv_lanes_out`; a line without = has no formula, which the server refuses. */
export function linksOf(lines: string): Link[] {
  return lines.split('\n').filter((line) => line.trim() !== '').map((line) => {
    const [row = '', ...formula] = line.split('=');
    return { parameter: row.trim() as Link['parameter'], formula: formula.join('=').trim() };
  });
}

/** Settings without the rows that follow others: what follows cannot be set. */
export const unlinked = (settings: Machine, links: Link[]): Machine =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !links.some((link) => link.parameter === name)));
