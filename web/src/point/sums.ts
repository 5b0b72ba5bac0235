// Sums over a stage's instructions.
import type { Instruction, Stage } from '../api/types';
import type { Bar } from '../chart/bars';
import { quantity } from '../format/quantity';
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

/** What of a stage decides how many cores run it, and what of the channel it has. */
export type StagePlace = Pick<Stage, 'role' | 'parts' | 'dram_share'>;

/** Cores that run a stage at the same time, each for a frame of its own (docs/model/frames.md). */
export function activeCores({ role, parts }: StagePlace, machine: Record<string, unknown>): number {
  const [cores, steps] = [machine.cores, machine.steps];
  if (typeof cores !== 'number' || typeof steps !== 'number' || parts > 1) return 1;
  if (role === 'network') return (machine.branches ?? 'serial') === 'serial' ? cores : 1;
  if (role === 'core' && machine.memory_hierarchy === 'crossbar') return cores;
  return role === 'core' ? Math.ceil(steps / Math.ceil(steps / cores)) : 1;
}

/** The part of the DRAM channel that a stage has (docs/model/frames.md). */
export function channelShare({ role, parts, dram_share: share }: StagePlace, machine: Record<string, unknown>): number {
  if (parts > 1) return share;
  const { encoder_dram_share: encoder, decoder_dram_share: decoder } = machine;
  if (machine.vae_stage === 'off_chip' || typeof encoder !== 'number' || typeof decoder !== 'number') return 1;
  if (role === 'encoder') return encoder;
  if (role === 'decoder') return decoder;
  return role === 'core' ? 1 - decoder - (machine.mode === 'image_to_image' ? encoder : 0) : 1;
}

/** Bytes a core cycle that DRAM delivers at its efficient rate; null when the machine does not say. */
export function dramBytesPerCycle(machine: Record<string, unknown>): number | null {
  const [bits, ratio, efficiency] = [machine.dram_bus_bits, machine.dram_clock_ratio, machine.dram_efficiency];
  if (typeof bits !== 'number' || typeof ratio !== 'number' || typeof efficiency !== 'number') return null;
  const transfersPerClock = 2;
  return (bits / 8) * transfersPerClock * ratio * efficiency;
}

/** MAC lanes of the three families of matrix operators that a stage runs on: the cores', or those of a circuit (docs/model/frames.md#vae-as-circuits). */
export function lanesOf(machine: Record<string, unknown>, role: string): { name: string; lanes: number }[] {
  const circuit = machine.vae_stage === 'circuit' && (role === 'encoder' || role === 'decoder');
  const product = (name: string, sides: string[]) => {
    const own = name === 'conv' ? 'vae_conv' : 'vae_matmul';
    const lanes = sides.map((side) => (circuit && machine[`${own}_lanes_${side}`]) || machine[`${name}_lanes_${side}`]);
    return lanes.every((one): one is number => typeof one === 'number') ? [{ name, lanes: lanes.reduce((a, b) => a * b, 1) }] : [];
  };
  const conv = product('conv', ['in', 'out', 'pixel']);
  const shared = machine.mac_sharing === 'shared' || machine.granularity === 'micro';
  const all = shared ? conv : [...conv, ...product('linear', ['m', 'n', 'k']), ...product('matmul', ['m', 'n', 'k'])];
  // Equal roofs are one line with all their names.
  const roofs = new Map<number, string[]>();
  for (const { name, lanes } of all) roofs.set(lanes, [...(roofs.get(lanes) ?? []), name]);
  return [...roofs].map(([lanes, names]) => ({ name: names.join(', '), lanes }));
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
