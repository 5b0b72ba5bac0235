// The meaning of the scatter's colours.
import type { ReactNode } from 'react';
import { blankColour, fadedColour, infeasibleColour, namedRgb, rampCss } from '../chart/palette';
import type { Colouring } from '../chart/scatter_model';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';

interface Props {
  name: string;
  paint: Colouring;
  unit: string;
  dark: boolean;
  /** How many points are drawn in each of the greys. */
  ruledOut: number;
  blank: number;
  infeasible: number;
}

export function ColourKey({ name, paint, unit, dark, ruledOut, blank, infeasible }: Props) {
  const { t } = useSpeech();
  return (
    <div className="colour-key">
      {name === 'density' ? <span className="muted">{t('chart.density_key')}</span>
        : paint.names.length > 0 ? <Names name={name} paint={paint} dark={dark} />
        : paint.range && <Ramp name={name} range={paint.range} log={paint.log} unit={unit} dark={dark} />}
      {blank > 0 && <Grey colour={blankColour(dark)}>{t(paint.log ? 'chart.off_scale' : 'chart.no_value', { count: plain(blank) })}</Grey>}
      {ruledOut > 0 && <Grey colour={fadedColour(dark)}>{t('chart.ruled_out', { count: plain(ruledOut) })}</Grey>}
      {infeasible > 0 && <Grey colour={infeasibleColour(dark)}>{t('chart.infeasible_key', { count: plain(infeasible) })}</Grey>}
    </div>
  );
}

function Names({ name, paint, dark }: { name: string; paint: Colouring; dark: boolean }) {
  const { t } = useSpeech();
  return (
    <>
      <code>{name}</code>
      {paint.names.map((one, k) => (
        <span key={one.name}><span className="swatch" style={{ background: `rgb(${namedRgb(k, dark).join(' ')})` }} aria-hidden="true" /> {t('chart.name_points', { name: one.name, count: plain(one.points) })}</span>
      ))}
      {paint.names.length > 1 && <span className="muted"><span className="swatch" style={{ background: mixOf(paint.names.length, dark) }} aria-hidden="true" /> {t('chart.mixed')}</span>}
    </>
  );
}

function Ramp({ name, range, log, unit, dark }: { name: string; range: [number, number]; log: boolean; unit: string; dark: boolean }) {
  const { t } = useSpeech();
  const stops = Array.from({ length: 9 }, (_, k) => rampCss(k / 8, dark)).join(',');
  const middle = log ? Math.sqrt(range[0] * range[1]) : (range[0] + range[1]) / 2;
  if (range[0] === range[1]) return <><code>{name}</code><span>{t('chart.one_value', { value: quantity(range[0], unit, 3) })}</span></>;
  return (
    <>
      <code>{name}</code>
      <span className="ramp-scale">
        <span className="ramp" style={{ background: `linear-gradient(90deg, ${stops})` }} aria-hidden="true" />
        <span className="ramp-ends">{[range[0], middle, range[1]].map((value) => <span key={value}>{quantity(value, unit, 3)}</span>)}</span>
      </span>
      <span>{t(log ? 'chart.log' : 'chart.linear')}</span>
      <span className="muted">{t('chart.mean')}</span>
    </>
  );
}

/** Equal parts of all names: the colour that tells no one of them apart. */
function mixOf(names: number, dark: boolean): string {
  const colours = Array.from({ length: names }, (_, k) => namedRgb(k, dark));
  return `rgb(${[0, 1, 2].map((k) => Math.round(colours.reduce((sum, one) => sum + (one[k] as number), 0) / names)).join(' ')})`;
}

const Grey = ({ colour, children }: { colour: number; children: ReactNode }) => (
  <span><span className="swatch" style={{ background: `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})` }} aria-hidden="true" /> {children}</span>
);
