// What the colours of the scatter say.
import { namedRgb, rampCss } from '../chart/palette';
import type { Colouring } from '../chart/scatter_model';
import { quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';

export function ColourKey({ name, paint, unit, dark }: { name: string; paint: Colouring; unit: string; dark: boolean }) {
  const { t } = useSpeech();
  if (name === 'density') return <p className="colour-key muted">{t('chart.density_key')}</p>;
  if (paint.names.length > 0) {
    return (
      <p className="colour-key">
        <code>{name}</code>
        {paint.names.map((one, k) => (
          <span key={one}>
            <span className="swatch" style={{ background: `rgb(${namedRgb(k, dark).join(' ')})` }} aria-hidden="true" /> {one}
          </span>
        ))}
      </p>
    );
  }
  if (!paint.range) return null;
  const stops = Array.from({ length: 9 }, (_, k) => rampCss(k / 8, dark)).join(',');
  return (
    <p className="colour-key">
      <code>{name}</code>
      <span>{quantity(paint.range[0], unit, 3)}</span>
      <span className="ramp" style={{ background: `linear-gradient(90deg, ${stops})` }} aria-hidden="true" />
      <span>{quantity(paint.range[1], unit, 3)}</span>
      {paint.log && <span className="muted">{t('chart.log')}</span>}
    </p>
  );
}
