// Cycles needed of each resource against the time there is: a bar each, its colour that of the resource.
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';

export type CyclesByNeed = Record<string, number>;

/** Resources that are needed at all, the most needed first. */
export const neededOf = (needs: CyclesByNeed): [string, number][] =>
  Object.entries(needs).filter(([, cycles]) => cycles > 0).sort((a, b) => b[1] - a[1]);

/** Needs as shares of `cycles`, by resource; the rest of the track is slack, less than nothing where transfers went ahead. */
export function NeedBars({ needs, cycles }: { needs: CyclesByNeed; cycles: number }) {
  const { t } = useSpeech();
  return (
    <ul className="bars need-bars">
      {neededOf(needs).map(([name, needed]) => (
        <li key={name}>
          <span className="bar-label">{wordFor(t, 'limiter', name)}</span>
          <span className="bar-track" aria-hidden="true">
            <span className="bar-fill" style={{ width: `${Math.min(100, (needed / cycles) * 100)}%`, background: `var(--c-${name}, var(--c-other))` }} />
          </span>
          <span className="bar-value">{quantity(needed, 'cycles', 3)}</span>
          <span className="bar-share">{t('explain.slack')} {percent((cycles - needed) / cycles)}</span>
        </li>
      ))}
    </ul>
  );
}
