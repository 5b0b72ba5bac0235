// Parts of a whole as horizontal bars, the longest first.
import { percent, quantity } from '../format/quantity';

export interface Bar {
  name: string;
  label: string;
  value: number;
}

/** Each bar's label, length against the longest, value and share. */
export function Bars({ bars, unit, coloured }: { bars: Bar[]; unit: string; coloured?: boolean }) {
  const total = bars.reduce((sum, bar) => sum + bar.value, 0);
  const most = Math.max(...bars.map((bar) => bar.value), 0);
  const sorted = [...bars].sort((a, b) => b.value - a.value);
  return (
    <ul className="bars">
      {sorted.map((bar) => (
        <li key={bar.name}>
          <span className="bar-label">{bar.label}</span>
          <span className="bar-track" aria-hidden="true">
            <span
              className="bar-fill"
              style={{
                width: `${most > 0 ? (bar.value / most) * 100 : 0}%`,
                ...(coloured ? { background: `var(--c-${bar.name}, var(--c-other))` } : {}),
              }}
            />
          </span>
          <span className="bar-value">{quantity(bar.value, unit, 3)}</span>
          <span className="bar-share">{total > 0 ? percent(bar.value / total, 2) : '–'}</span>
        </li>
      ))}
    </ul>
  );
}

/** One bar of the whole, cut into its parts. */
export function StackedBar({ bars, unit, label }: { bars: Bar[]; unit: string; label: string }) {
  const total = bars.reduce((sum, bar) => sum + bar.value, 0);
  return (
    <div className="stacked" role="img" aria-label={label}>
      {bars.filter((bar) => bar.value > 0).map((bar) => (
        <span
          key={bar.name} title={`${bar.label}: ${quantity(bar.value, unit)}`}
          style={{ flexGrow: bar.value / total, background: `var(--c-${bar.name}, var(--c-other))` }}
        />
      ))}
    </div>
  );
}
