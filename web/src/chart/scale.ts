// Scales and ticks of an axis: pure functions from data to pixels.

export interface Scale {
  log: boolean;
  domain: [number, number];
  range: [number, number];
}

/** Where a value lies; not a number when a log axis cannot show it. */
export function place(scale: Scale, value: number): number {
  const [low, high] = scale.domain;
  const [from, to] = scale.range;
  if (scale.log) {
    if (value <= 0) return NaN;
    return from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
  }
  return from + ((value - low) / (high - low)) * (to - from);
}

/** The value at a pixel: the inverse of place. */
export function valueAt(scale: Scale, pixel: number): number {
  const [low, high] = scale.domain;
  const share = (pixel - scale.range[0]) / (scale.range[1] - scale.range[0]);
  if (scale.log) return Math.exp(Math.log(low) + share * (Math.log(high) - Math.log(low)));
  return low + share * (high - low);
}

/** The least and the greatest finite value, those above zero only for a log axis; null when there are none. */
export function extent(values: ArrayLike<number>, log: boolean): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/** A domain with some air around the extent; never of zero width. */
export function padded([low, high]: [number, number], log: boolean, share = 0.04): [number, number] {
  if (log) {
    const air = low === high ? Math.log(2) : (Math.log(high) - Math.log(low)) * share;
    return [Math.exp(Math.log(low) - air), Math.exp(Math.log(high) + air)];
  }
  const air = low === high ? Math.abs(low) * 0.5 || 1 : (high - low) * share;
  return [low >= 0 ? Math.max(0, low - air) : low - air, high + air];
}

/** Where an axis from zero ends. A limit is on it unless it would flatten what is shown; of nothing it is what is shown. */
export function topOf(peak: number, limit?: number): number {
  if (peak === 0) return limit ? limit * 1.05 : 1;
  return limit !== undefined && limit < peak * 8 ? Math.max(peak, limit) * 1.05 : peak * 1.1;
}

function linearTicks([low, high]: [number, number], count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999999) ?? rough;
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(domain: [number, number], count: number): number[] {
  const decades = Math.log10(domain[1] / domain[0]);
  if (decades < 1) return linearTicks(domain, count).filter((tick) => tick > 0);
  const every = Math.max(1, Math.ceil(decades / count));
  const within = decades <= count / 3 ? [1, 2, 5] : decades <= count / 2 ? [1, 3] : [1];
  const ticks: number[] = [];
  for (let e = Math.floor(Math.log10(domain[0])); e <= Math.ceil(Math.log10(domain[1])); e++) {
    if (e % every !== 0) continue;
    for (const m of within) {
      const tick = Number((m * 10 ** e).toPrecision(12));
      if (tick >= domain[0] * (1 - 1e-9) && tick <= domain[1] * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** Powers of two, for axes of bytes. */
function binaryTicks(domain: [number, number], count: number): number[] {
  const first = Math.ceil(Math.log2(domain[0]) - 1e-9);
  const last = Math.floor(Math.log2(domain[1]) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const ticks: number[] = [];
  for (let e = first; e <= last; e += every) ticks.push(2 ** e);
  return ticks;
}

/** Round values inside the domain, about `count` of them. */
export function ticksOf(scale: Scale, count: number, unit = ''): number[] {
  if (unit !== 'B') return scale.log ? logTicks(scale.domain, count) : linearTicks(scale.domain, count);
  if (scale.log) return binaryTicks(scale.domain, count);
  const step = 1024 ** Math.floor(Math.log(Math.max(scale.domain[1], 1)) / Math.log(1024));
  return linearTicks([scale.domain[0] / step, scale.domain[1] / step], count).map((tick) => tick * step);
}
