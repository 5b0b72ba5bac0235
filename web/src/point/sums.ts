// Sums over a stage's instructions.
import type { Instruction, MacRoof, MemoryCapacity } from '../api/types';
import type { Bar } from '../chart/bars';
import type { Limit } from '../chart/occupancy';
import { plain, quantity } from '../format/quantity';
import type { Translate } from '../i18n/i18n';

export const cyclesOf = (one: Instruction): number => one.end_cycle - one.start_cycle;

/** Cycles by what `key` says of each instruction, the most first. */
export function cyclesBy(program: Instruction[], key: (one: Instruction) => string, label: (name: string) => string): Bar[] {
  const sums = new Map<string, number>();
  for (const one of program) sums.set(key(one), (sums.get(key(one)) ?? 0) + cyclesOf(one));
  return [...sums].map(([name, value]) => ({ name, label: label(name), value })).sort((a, b) => b.value - a.value);
}

/** The ends of an energy's range. */
export const rangeText = ({ least, most }: { least: number | null; most: number | null }): string =>
  `${quantity(least ?? 0, 'J', 3)} – ${quantity(most ?? 0, 'J', 3)}`;

/** A roof's name: where MACs make several narrow products a cycle, of the layer of which they make most. */
export function roofLabel(name: string, lanes: string, productsInMac: number): string {
  return productsInMac > 1 ? `${name} · ${lanes} × ${productsInMac}` : `${name} · ${lanes}`;
}

/** Roofs as the cost engine has them, named by the families whose products are under each. */
export const roofsOf = (t: Translate, roofs: MacRoof[]): { label: string; rate: number }[] =>
  roofs.map((one) => ({
    label: roofLabel(one.families.join(', '), `${plain(one.lanes)} ${t('roofline.lanes')}`, one.products_in_mac), rate: one.macs_per_cycle,
  }));

/** The capacities of a memory, `DSRAM` say: of one side, and where families have pairs of their own a line for those of one size. */
export function limitsOf(capacities: MemoryCapacity[], memory: string, label = memory): Limit[] {
  const sharers = new Map<number, string[]>();
  for (const { memory: name, bytes } of capacities) {
    const [, side, family] = /^([A-Za-z]+)0?(?: of (\w+))?$/.exec(name) ?? [];
    if (side === memory) sharers.set(bytes, [...(sharers.get(bytes) ?? []), ...(family ? [family] : [])]);
  }
  return [...sharers].map(([value, families]) => ({
    value, label: [label, families.length > 0 ? `(${families.join(', ')})` : '', quantity(value, 'B')].filter(Boolean).join(' '),
  }));
}

/** The DRAM channel's roof. */
export const channelLabel = (bytesPerCycle: number): string => `${plain(Number(bytesPerCycle.toPrecision(3)))} B/cycle`;

/** The note above a roofline: no MAC of `inMemory` instructions is a lane's. */
export function roofNote(t: Translate, cores: number, inMemory: number): string {
  const parts = [t('roofline.note')];
  if (cores > 1) parts.push(t('roofline.cores', { count: cores }));
  if (inMemory > 0) parts.push(t('roofline.in_memory', { count: inMemory }));
  return parts.join(' ');
}

/** The note in place of a roofline without dots. */
export const roofNone = (t: Translate, inMemory: number): string =>
  inMemory > 0 ? t('roofline.in_memory', { count: inMemory }) : t('roofline.none');
