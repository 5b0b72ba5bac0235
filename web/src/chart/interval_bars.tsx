// Values with their uncertainty as horizontal bars, in the order given.
export interface IntervalBar {
  name: string;
  /** Says under the pointer what it is. */
  title?: string | undefined;
  value: number;
  /** The interval is value - error to value + error. */
  error: number;
  /** A second value on the same scale, drawn as a mark. */
  mark?: number | undefined;
  /** The value in words, beside the bar. */
  text: string;
}

const within = (share: number) => Math.min(100, Math.max(0, 100 * share));

/** Where a bar ends, its interval lies and its mark stands, in percent of the longest with its interval. */
export function barPlaces(bar: IntervalBar, most: number): { end: number; low: number; high: number; mark: number | null } {
  const place = (value: number) => (most > 0 ? within(value / most) : 0);
  return {
    end: place(bar.value), low: place(bar.value - bar.error), high: place(bar.value + bar.error),
    mark: bar.mark === undefined ? null : place(bar.mark),
  };
}

export const longest = (bars: IntervalBar[]) => Math.max(0, ...bars.flatMap((bar) => [bar.value + bar.error, bar.mark ?? 0]));

export function IntervalBars({ bars, most, label }: { bars: IntervalBar[]; most: number; label: string }) {
  return (
    <ol className="interval-bars" aria-label={label}>
      {bars.map((bar) => {
        const { end, low, high, mark } = barPlaces(bar, most);
        return (
          <li key={bar.name} data-row={bar.name}>
            <code className="bar-label" title={bar.title}>{bar.name}</code>
            <span className="bar-track" aria-hidden="true">
              <span className="bar-fill" style={{ width: `${end}%` }} />
              {mark !== null && <span className="bar-mark" style={{ left: `${mark}%` }} />}
              <span className="bar-interval" style={{ left: `${low}%`, width: `${high - low}%` }} />
            </span>
            <span className="bar-value">{bar.text}</span>
          </li>
        );
      })}
    </ol>
  );
}
