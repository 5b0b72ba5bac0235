// Points to pixels without a drawing context: 100,000 points in some milliseconds on any machine, no GPU needed.

export interface Dots {
  /** Pixel positions; a point outside or not a number is skipped. */
  x: Float32Array;
  y: Float32Array;
  /** 0xAABBGGRR of each point, as ImageData stores it on a little-endian machine. */
  colour: Uint32Array;
  /** Drawing order: the last is on top. */
  order: Uint32Array;
}

/** Offsets of the pixels of a disc. A radius of 0 is one pixel. */
export function disc(radius: number): [number, number][] {
  const offsets: [number, number][] = [];
  const whole = Math.ceil(radius);
  for (let dy = -whole; dy <= whole; dy++) {
    for (let dx = -whole; dx <= whole; dx++) {
      if (dx * dx + dy * dy <= radius * radius + 0.25) offsets.push([dx, dy]);
    }
  }
  return offsets;
}

/** The points' pixels, width times height; a point in front hides what is behind it. */
export function rasterise(dots: Dots, width: number, height: number, radius: number): Uint32Array {
  const pixels = new Uint32Array(width * height);
  const offsets = disc(radius);
  for (const i of dots.order) {
    const cx = Math.round(dots.x[i] as number);
    const cy = Math.round(dots.y[i] as number);
    if (!(cx >= -radius && cx < width + radius && cy >= -radius && cy < height + radius)) continue;
    const colour = dots.colour[i] as number;
    for (const [dx, dy] of offsets) {
      const px = cx + dx;
      const py = cy + dy;
      if (px >= 0 && px < width && py >= 0 && py < height) pixels[py * width + px] = colour;
    }
  }
  return pixels;
}

/** How many points lie around each pixel: what tells a crowd from a few when there is no third metric. */
export function density(dots: Dots, width: number, height: number, radius: number): { count: Uint32Array; most: number } {
  const count = new Uint32Array(width * height);
  const offsets = disc(radius);
  let most = 0;
  for (const i of dots.order) {
    const cx = Math.round(dots.x[i] as number);
    const cy = Math.round(dots.y[i] as number);
    if (!(cx >= -radius && cx < width + radius && cy >= -radius && cy < height + radius)) continue;
    for (const [dx, dy] of offsets) {
      const px = cx + dx;
      const py = cy + dy;
      if (px < 0 || px >= width || py < 0 || py >= height) continue;
      const at = py * width + px;
      const now = (count[at] as number) + 1;
      count[at] = now;
      if (now > most) most = now;
    }
  }
  return { count, most };
}

/** A number of points as an opacity between a floor, so that one point is seen, and 255. */
export function opacity(count: number, most: number): number {
  if (count === 0) return 0;
  if (most <= 1) return 215;
  return Math.round(120 + (135 * Math.log(count)) / Math.log(most));
}

export const packed = (r: number, g: number, b: number, a = 255): number =>
  ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** The point nearest to a pixel within `reach`, or -1. `shown` says which can be picked. */
export function nearest(dots: Dots, px: number, py: number, reach: number, shown: (i: number) => boolean): number {
  let best = -1;
  let least = reach * reach;
  for (const i of dots.order) {
    const dx = (dots.x[i] as number) - px;
    const dy = (dots.y[i] as number) - py;
    const square = dx * dx + dy * dy;
    if (square <= least && shown(i)) {
      least = square;
      best = i;
    }
  }
  return best;
}
