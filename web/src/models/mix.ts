// Mixes of workloads in a text, as the API has them: sd15:3+sdxl is three images of sd15 for each of sdxl.

export interface MixPart {
  model: string;
  weight: number;
}

export const mostWorkloads = 8;

export function mixOf(text: string): MixPart[] {
  return text.split('+').map((part) => {
    const colon = part.lastIndexOf(':');
    return colon < 0 ? { model: part, weight: 1 } : { model: part.slice(0, colon), weight: Number(part.slice(colon + 1)) };
  });
}

export const mixText = (parts: MixPart[]): string =>
  parts.map(({ model, weight }) => (weight === 1 || parts.length === 1 ? model : `${model}:${weight}`)).join('+');

/** Whether every weight is one that the API takes. */
export const isMix = (text: string): boolean => mixOf(text).every(({ weight }) => weight > 0 && weight <= 1e6);
