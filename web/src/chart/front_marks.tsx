// The Pareto front over a scatter: a staircase, and a link for each of its points that arrow keys walk.
import { useState, type KeyboardEvent } from 'react';
import { place, type Scale } from './scale';

interface Props {
  front: number[];
  scaleX: Scale;
  scaleY: Scale;
  xs: Float64Array;
  ys: Float64Array;
  /** Less x is better: the staircase goes along x first, from a point to the next. */
  lowerX: boolean;
  hrefOf: (i: number) => string;
  nameOf: (i: number) => string;
  onFocus: (i: number) => void;
}

const leastApart = 9;

/** The marks that do not lie on one another: each at least some pixels from the one kept before it. */
export function apart<Mark extends { px: number; py: number }>(marks: Mark[], pixels: number): Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks) {
    const last = kept[kept.length - 1];
    if (!last || Math.hypot(mark.px - last.px, mark.py - last.py) >= pixels) kept.push(mark);
  }
  return kept;
}

export function FrontMarks({ front, scaleX, scaleY, xs, ys, lowerX, hrefOf, nameOf, onFocus }: Props) {
  const [active, setActive] = useState(0);
  const inside = ({ range }: Scale, pixel: number) => pixel >= Math.min(...range) - 1 && pixel <= Math.max(...range) + 1;
  const marks = front
    .map((i) => ({ i, px: place(scaleX, xs[i] as number), py: place(scaleY, ys[i] as number) }))
    .filter(({ px, py }) => inside(scaleX, px) && inside(scaleY, py));
  const line = marks.map(({ px, py }, k) => k === 0 ? `M${px.toFixed(1)},${py.toFixed(1)}` : lowerX ? `H${px.toFixed(1)}V${py.toFixed(1)}` : `V${py.toFixed(1)}H${px.toFixed(1)}`).join('');
  const shown = apart(marks, leastApart);
  const current = Math.min(active, shown.length - 1);
  const walk = (event: KeyboardEvent<HTMLAnchorElement>) => {
    const step = event.key === 'ArrowRight' || event.key === 'ArrowDown' ? 1 : event.key === 'ArrowLeft' || event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = Math.min(shown.length - 1, Math.max(0, current + step));
    setActive(next);
    const links = event.currentTarget.parentElement?.querySelectorAll<SVGElement>('a');
    links?.[next]?.focus();
  };
  return (
    <g className="front">
      <path d={line} aria-hidden="true" />
      {shown.map(({ i, px, py }, k) => (
        <a
          key={i} href={hrefOf(i)} aria-label={nameOf(i)} tabIndex={k === current ? 0 : -1} onKeyDown={walk}
          onFocus={() => { setActive(k); onFocus(i); }} onBlur={() => onFocus(-1)} data-front={i}
        >
          <circle cx={px} cy={py} r={12} className="target" />
          <circle cx={px} cy={py} r={4.5} className="mark" />
        </a>
      ))}
    </g>
  );
}
