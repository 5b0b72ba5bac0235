// The Pareto front over a scatter: a staircase, and a link for each of its points that arrow keys walk.
import { memo, useCallback, useMemo, useState, type KeyboardEvent } from 'react';
import { inPlot, type Plot } from './hit';
import type { Dots } from './raster';

interface Props {
  front: number[];
  /** Those of the front that are marked as knees. */
  knees: ReadonlySet<number>;
  dots: Dots;
  plot: Plot;
  /** The point that the pointer or the keys mean now, or -1: the only mark that takes a click. */
  target: number;
  /** Less x is better: the staircase goes along x first, from a point to the next. */
  lowerX: boolean;
  /** Both stay the same function while the points do: making all names anew for each move of the pointer takes long. */
  hrefOf: (i: number) => string;
  nameOf: (i: number) => string;
  onFocus: (i: number) => void;
}

/** So many links a browser bears; of a longer front those on one pixel share one. */
export const mostMarks = 2000;

/** The front points that get a mark: all of them, or where they are too many one for each pixel. */
export function marksOf(dots: Dots, front: number[], plot: Plot, most = mostMarks): number[] {
  const inside = front.filter((i) => inPlot(dots, i, plot));
  if (inside.length <= most) return inside;
  const taken = new Set<string>();
  return inside.filter((i) => {
    const pixel = `${Math.round(dots.x[i] as number)},${Math.round(dots.y[i] as number)}`;
    return !taken.has(pixel) && taken.add(pixel);
  });
}

/** The place in a list of `count` that a key leads to from another; undefined for other keys. */
export function walked(key: string, from: number, count: number): number | undefined {
  const to = { ArrowRight: from + 1, ArrowDown: from + 1, ArrowLeft: from - 1, ArrowUp: from - 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}

export function FrontMarks({ front, knees, dots, plot, target, lowerX, hrefOf, nameOf, onFocus }: Props) {
  const [active, setActive] = useState(0);
  const marks = useMemo(
    () => marksOf(dots, front, plot).map((i) => ({ i, px: dots.x[i] as number, py: dots.y[i] as number, href: hrefOf(i), name: nameOf(i) })),
    [dots, front, plot, hrefOf, nameOf],
  );
  const line = useMemo(() => marks.map(({ px, py }, k) => {
    const [x, y] = [px.toFixed(1), py.toFixed(1)];
    return k === 0 ? `M${x},${y}` : lowerX ? `H${x}V${y}` : `V${y}H${x}`;
  }).join(''), [marks, lowerX]);
  const current = Math.min(active, marks.length - 1);
  const walk = useCallback((event: KeyboardEvent<SVGGElement>) => {
    const next = walked(event.key, current, marks.length);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    event.currentTarget.querySelectorAll<SVGElement>('a')[next]?.focus();
  }, [current, marks.length]);
  const focus = useCallback((k: number, i: number) => {
    if (k >= 0) setActive(k);
    onFocus(i);
  }, [onFocus]);
  return (
    <g className="front" data-target={target >= 0 ? 'some' : undefined} onKeyDown={walk}>
      <path d={line} aria-hidden="true" />
      {marks.map((mark, k) => <Mark key={mark.href} {...mark} k={k} knee={knees.has(mark.i)} walks={k === current} meant={mark.i === target} focus={focus} />)}
    </g>
  );
}

interface MarkProps {
  i: number;
  k: number;
  px: number;
  py: number;
  href: string;
  name: string;
  knee: boolean;
  walks: boolean;
  meant: boolean;
  focus: (k: number, i: number) => void;
}

/** The mark of a knee. */
export const diamond = (x: number, y: number, size = 8) => `M${x},${y - size}L${x + size},${y}L${x},${y + size}L${x - size},${y}Z`;

const Mark = memo(function Mark({ i, k, px, py, href, name, knee, walks, meant, focus }: MarkProps) {
  return (
    <a
      href={href} aria-label={name} tabIndex={walks ? 0 : -1} className={meant ? 'meant' : undefined} data-front={i}
      onFocus={() => focus(k, i)} onBlur={() => focus(-1, -1)}
    >
      <circle cx={px} cy={py} r={12} className="target" />
      {knee ? <path d={diamond(px, py)} className="mark knee" /> : <circle cx={px} cy={py} r={4.5} className="mark" />}
    </a>
  );
});
