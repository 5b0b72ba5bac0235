// Colours that a canvas needs as numbers; the limiters' and series' colours are CSS variables (styles/tokens.css).
import { packed } from './raster';

type Rgb = [number, number, number];

// From dark to bright through green: even steps of lightness, told apart with any colour vision.
const lightRamp: Rgb[] = [[59, 28, 110], [56, 88, 140], [33, 134, 134], [76, 171, 88], [190, 190, 30]];
const darkRamp: Rgb[] = [[112, 92, 200], [70, 130, 190], [40, 170, 160], [120, 205, 100], [250, 225, 70]];

/** The colour of a share between 0 and 1. */
export function ramp(share: number, dark: boolean): Rgb {
  const stops = dark ? darkRamp : lightRamp;
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const from = stops[low] as Rgb;
  const to = stops[low + 1] as Rgb;
  return from.map((value, k) => Math.round(value + ((to[k] as number) - value) * (at - low))) as Rgb;
}

export const rampCss = (share: number, dark: boolean): string => `rgb(${ramp(share, dark).join(' ')})`;

export const infeasibleColour = (dark: boolean): number => (dark ? packed(88, 98, 112) : packed(200, 206, 214));
export const fadedColour = (dark: boolean): number => (dark ? packed(50, 60, 74) : packed(222, 227, 233));
/** The colour of a point without a value to colour by. */
export const blankColour = (dark: boolean): number => (dark ? packed(120, 130, 144) : packed(160, 168, 178));
export const dotRgb = (dark: boolean): Rgb => (dark ? [143, 168, 255] : [51, 85, 209]);

/** Colours of named values, in their order. */
const names: { light: Rgb; dark: Rgb }[] = [
  { light: [51, 85, 209], dark: [143, 168, 255] },
  { light: [207, 90, 24], dark: [245, 145, 85] },
  { light: [15, 130, 120], dark: [63, 189, 179] },
  { light: [150, 60, 160], dark: [215, 140, 225] },
  { light: [120, 130, 20], dark: [200, 205, 90] },
  { light: [190, 40, 80], dark: [250, 120, 150] },
  { light: [90, 100, 115], dark: [160, 172, 188] },
];

/** The colour of the n-th name: from the list, then hues a golden angle apart. */
export function namedRgb(index: number, dark: boolean): Rgb {
  const pair = names[index];
  if (pair) return dark ? pair.dark : pair.light;
  const hue = (index * 137.508) % 360;
  const light = (dark ? 0.66 : 0.4) + (index % 3) * 0.06;
  const spread = 0.6 * Math.min(light, 1 - light);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (light - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  }) as Rgb;
}
