// The knees of a front of two metrics, by the rule of core/explore/front.h.
import type { Better } from './front';

export type Knee = 'none' | 'local' | 'greatest';

/** So far a local knee stands out: as least_knee there. */
export const leastKnee = 0.05;
const rounding = 1e-9;

/** Costs from 0 to 1: logarithms where all have one sign, else as they are; undefined where all are equal. */
function scaled(values: number[], better: Better): number[] | undefined {
  const plain = values.map((value) => (better === 'higher' ? -value : value));
  const sign = plain.every((cost) => cost > 0) ? 1 : plain.every((cost) => cost < 0) ? -1 : 0;
  const costs = sign === 0 ? plain : plain.map((cost) => sign * Math.log10(sign * cost));
  const least = costs.reduce((a, b) => Math.min(a, b), Infinity);
  const range = costs.reduce((a, b) => Math.max(a, b), -Infinity) - least;
  return range > 0 ? costs.map((cost) => (cost - least) / range) : undefined;
}

/** From each height down to the lowest place before a greater one, looking back; `equal`: an equal one is greater. */
function lowestBefore(heights: number[], equal: boolean): number[] {
  const greater: { height: number; lowest: number }[] = [];
  return heights.map((height) => {
    let lowest = height;
    for (let last = greater.at(-1); last && (last.height < height || (!equal && last.height === height)); last = greater.at(-1)) {
      lowest = Math.min(lowest, last.lowest);
      greater.pop();
    }
    greater.push({ height, lowest });
    return lowest;
  });
}

/**
 * Whether each point of a front, in its order, is a knee. Example: (1,1000) (10,10) (1000,1), less is better in both:
 * the second, 0.24 from the line through the ends.
 */
export function kneesOf(xs: ArrayLike<number>, ys: ArrayLike<number>, betterX: Better, betterY: Better, front: number[]): Knee[] {
  const none = front.map((): Knee => 'none');
  const x = scaled(front.map((i) => xs[i] as number), betterX);
  const y = scaled(front.map((i) => ys[i] as number), betterY);
  if (!x || !y) return none;
  const order = front.map((_, k) => k).sort((a, b) => (x[a] as number) - (x[b] as number) || a - b);
  const distances = order.map((k) => (1 - (x[k] as number) - (y[k] as number)) / Math.SQRT2);
  const most = distances.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(most > rounding)) return none;
  const before = lowestBefore(distances, true);
  const behind = lowestBefore([...distances].reverse(), false).reverse();
  const knees = none;
  order.forEach((k, at) => {
    const distance = distances[at] as number;
    if (distance > rounding && distance - Math.max(before[at] as number, behind[at] as number) >= leastKnee) knees[k] = 'local';
  });
  knees[order[distances.indexOf(most)] as number] = 'greatest';
  return knees;
}
