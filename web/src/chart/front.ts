// The Pareto front of two metrics.

export type Better = 'higher' | 'lower' | 'neither';

/**
 * Positions of the points that no other beats in both metrics, ordered by x. Equal points are all kept.
 * Empty when a metric has no better direction. Example: (1,1) (2,3) (3,2) with x lower, y higher gives 0, 1.
 */
export function paretoFront(
  xs: ArrayLike<number>, ys: ArrayLike<number>, betterX: Better, betterY: Better, keep: (i: number) => boolean,
): number[] {
  if (betterX === 'neither' || betterY === 'neither') return [];
  const signX = betterX === 'lower' ? 1 : -1;
  const signY = betterY === 'lower' ? 1 : -1;
  const order: number[] = [];
  for (let i = 0; i < xs.length; i++) {
    if (Number.isFinite(xs[i]) && Number.isFinite(ys[i]) && keep(i)) order.push(i);
  }
  const x = (i: number) => signX * (xs[i] as number);
  const y = (i: number) => signY * (ys[i] as number);
  order.sort((a, b) => x(a) - x(b) || y(a) - y(b) || a - b);
  const front: number[] = [];
  let best = Infinity;
  let bestX = NaN;
  for (const i of order) {
    if (y(i) < best || (y(i) === best && x(i) === bestX)) {
      front.push(i);
      best = y(i);
      bestX = x(i);
    }
  }
  return front.sort((a, b) => (xs[a] as number) - (xs[b] as number) || a - b);
}
