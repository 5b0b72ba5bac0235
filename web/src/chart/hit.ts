// Which point a place on the scatter means: one answer for the pointer, a click, a touch and the keys.
import type { Dots } from './raster';

export interface Plot {
  width: number;
  height: number;
}

/** A front mark is drawn about so large: within this it is meant, whatever lies under it. */
export const markReach = 7;
/** Other points are found from so far. */
export const dotReach = 12;

/** Whether a point is drawn inside the plot, but for the half of a mark that may stand out. */
export const inPlot = (dots: Dots, i: number, { width, height }: Plot): boolean =>
  (dots.x[i] as number) >= -1 && (dots.x[i] as number) <= width + 1 && (dots.y[i] as number) >= -1 && (dots.y[i] as number) <= height + 1;

/** The nearest of some points within `reach`, or -1; of equally near ones `preferred`, else the last. */
function nearest(points: Iterable<number>, dots: Dots, plot: Plot, px: number, py: number, reach: number, preferred: number): number {
  let best = -1;
  let least = reach * reach;
  for (const i of points) {
    const dx = (dots.x[i] as number) - px;
    const dy = (dots.y[i] as number) - py;
    const square = dx * dx + dy * dy;
    if (!(square <= least) || !inPlot(dots, i, plot)) continue;
    if (square === least && best === preferred && best >= 0) continue;
    least = square;
    best = i;
  }
  return best;
}

/**
 * The point that a place of the plot means, or -1: the nearest front mark under it, else the nearest point that is drawn.
 * Where several lie equally near, the one that is already pointed at stays.
 */
export function pointAt(dots: Dots, front: number[], plot: Plot, px: number, py: number, current = -1): number {
  const mark = nearest(front, dots, plot, px, py, markReach, current);
  return mark >= 0 ? mark : nearest(dots.order, dots, plot, px, py, dotReach, current);
}

/** The front points whose marks lie so close to one of them that a pointer cannot tell them apart, itself among them. */
export function together(dots: Dots, front: number[], i: number, pixels = 2): number[] {
  if (!front.includes(i)) return [i];
  return front.filter((k) => Math.hypot((dots.x[k] as number) - (dots.x[i] as number), (dots.y[k] as number) - (dots.y[i] as number)) <= pixels);
}
