// Numbers with units as people read them: 401.6 GMAC, 8 MiB, 20.4 ms, 1,234 cycles.

const steps: [number, string][] = [
  [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''],
  [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p'],
];
const binarySteps: [number, string][] = [
  [2 ** 50, 'PiB'], [2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B'],
];
const prefixed = new Set(['s', 'J', 'W', 'J*s', 'MAC', 'FLOP/s', 'FLOP', 'B/s', 'Hz', 'MAC/s']);
const shown: Record<string, string> = { mm2: 'mm²', 'J*s': 'J·s', 'frame/s': 'fps', 'frame/s/mm2': 'fps/mm²', 'W/mm2': 'W/mm²', 'TOPS/mm2': 'TOPS/mm²' };

/** A plain number with `digits` significant digits; whole numbers keep all of theirs, grouped in threes. */
export function plain(value: number, digits = 4): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString('en-US');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(digits - 1).replace('e', ' e');
  return value.toLocaleString('en-US', size >= 10 ** digits ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits });
}

function scaled(value: number, table: [number, string][], digits: number): [string, string] {
  if (value === 0) return ['0', table.find(([step]) => step === 1)?.[1] ?? ''];
  const size = Math.abs(value);
  // A value that would round up to the next step is shown in that step: 999.96 k reads 1 M.
  const rounded = Number(size.toPrecision(digits));
  const [step, prefix] = table.find(([least]) => rounded >= least) ?? table[table.length - 1] ?? [1, ''];
  return [(value / step).toLocaleString('en-US', { maximumSignificantDigits: digits }), prefix];
}

/** The number and the unit apart, for a tile that shows them in two sizes. */
export function quantityParts(value: number, unit: string, digits = 4): [string, string] {
  if (unit === 'B') return scaled(value, binarySteps, digits);
  if (unit === 'cycles') {
    if (Math.abs(value) < 1e4) return [plain(value, digits), 'cycles'];
    const [number, prefix] = scaled(value, steps, digits);
    return [number, `${prefix} cycles`];
  }
  if (prefixed.has(unit)) {
    const [number, prefix] = scaled(value, steps, digits);
    return [number, prefix + (shown[unit] ?? unit)];
  }
  return [plain(value, digits), shown[unit] ?? unit];
}

export function quantity(value: number | null | undefined, unit: string, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const [number, suffix] = quantityParts(value, unit, digits);
  return suffix ? `${number} ${suffix}` : number;
}

/** A share in percent; one too small to read is said to be below a thousandth. */
export function percent(share: number, digits = 3): string {
  if (share > 0 && share < 1e-5) return '<0.001 %';
  return `${(share * 100).toLocaleString('en-US', { maximumSignificantDigits: digits })} %`;
}

export const unitName = (unit: string): string => shown[unit] ?? unit;

/** Any cell of an answer as text; numbers in their unit. */
export function cellText(value: number | string | boolean | null | undefined, unit: string): string {
  if (typeof value === 'number') return quantity(value, unit);
  if (value === null || value === undefined || value === '') return '–';
  return String(value);
}

/** A cell under a heading that names the unit: only scaled units are repeated. */
export function columnText(value: number | string | boolean | null | undefined, unit: string): string {
  if (typeof value !== 'number') return cellText(value, unit);
  return unit === 'B' || prefixed.has(unit) ? quantity(value, unit) : plain(value);
}

/** A tick of an axis whose title names the unit: short enough for the margin however large it is. */
export function tickText(value: number, unit: string): string {
  if (unit === 'B' || unit === 'cycles' || prefixed.has(unit)) return quantity(value, unit, 3);
  return Math.abs(value) >= 1e6 ? scaled(value, steps, 3).join(' ').trim() : plain(value, 3);
}

const suffixes: Record<string, number> = {
  k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40,
  KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
};

/** The number a person typed, `8 MiB` and `2k` included; null when it is none. */
export function parseNumber(text: string): number | null {
  const match = /^\s*([+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*$/.exec(text);
  if (!match?.[1]) return null;
  const factor = match[2] ? suffixes[match[2]] : 1;
  const value = Number(match[1].replace(/,/g, ''));
  return factor === undefined || !Number.isFinite(value) ? null : value * factor;
}

/** A time to wait: 45 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds: number): string {
  if (seconds < 10) return `${plain(seconds, 2)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (seconds < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A name at the head of a column or an axis, with its unit. */
export const headed = (name: string, unit: string): string => (unit ? `${name} [${unitName(unit)}]` : name);
