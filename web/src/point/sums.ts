// Sums over a stage's instructions.
import type { Instruction, Stage } from '../api/types';
import type { Bar } from '../chart/bars';
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

/** DRAM bytes an instruction moves, all kinds: weights and words once for all cores, activations for each of `cores`. */
export const dramBytes = (one: Instruction, cores = 1): number =>
  one.dram_weights_bytes + one.dram_program_bytes + cores * (one.dram_activations_in_bytes + one.dram_activations_out_bytes);

/** A stage's roofs as lines with labels. */
export function roofsOf({ mac_roofs: roofs, products_in_mac: products }: Pick<Stage, 'mac_roofs' | 'products_in_mac'>, t: Translate): { label: string; rate: number }[] {
  return roofs.map(({ families, lanes, macs_per_cycle: rate }) => ({ label: roofLabel(families.join(', '), `${plain(lanes)} ${t('roofline.lanes')}`, products), rate }));
}

/** A roof's name: where MACs make several narrow products a cycle, of the layer of which they make most. */
export function roofLabel(name: string, lanes: string, productsInMac: number): string {
  return productsInMac > 1 ? `${name} · ${lanes} × ${productsInMac}` : `${name} · ${lanes}`;
}

/** What is said above a roofline: of `inMemory` instructions no MAC is a lane's. */
export function roofNote(t: Translate, cores: number, inMemory: number): string {
  const parts = [t('roofline.note')];
  if (cores > 1) parts.push(t('roofline.cores', { count: cores }));
  if (inMemory > 0) parts.push(t('roofline.in_memory', { count: inMemory }));
  return parts.join(' ');
}

/** What is said in place of a roofline without dots. */
export const roofNone = (t: Translate, inMemory: number): string =>
  inMemory > 0 ? t('roofline.in_memory', { count: inMemory }) : t('roofline.none');
