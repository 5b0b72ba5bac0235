// Published chips, priced by the figures that price this machine: predicted area or power over the published one.
import type { Chip } from '../api/types';
import { quantity } from '../format/quantity';
import { useSpeech, type Key } from '../i18n/i18n';
import { ChartFrame } from './chart_frame';
import { IntervalBars, longest } from './interval_bars';

export type ChipFigure = 'area_mm2' | 'power_w';

/** Chips of which the figure was published as it is, not as a bound; those that constants were fitted on last. */
export const comparedChips = (chips: Chip[], figure: ChipFigure) =>
  chips.filter((chip) => chip[figure].published !== undefined && !chip[figure].bound)
    .sort((a, b) => Number(a.use === 'fit') - Number(b.use === 'fit'));

export function KnownChips({ chips, figure, title }: { chips: Chip[]; figure: ChipFigure; title: Key }) {
  const { t } = useSpeech();
  const unit = figure === 'area_mm2' ? 'mm2' : 'W';
  const shown = comparedChips(chips, figure);
  const nameOf = (chip: Chip) => (chip.use === 'fit' ? `${chip.name} *` : chip.name);
  const ratioOf = (chip: Chip) => chip[figure].predicted_over_published ?? 0;
  const textOf = (chip: Chip) => quantity(Number(ratioOf(chip).toPrecision(3)), '', 3);
  const bars = shown.map((chip) => ({ name: nameOf(chip), value: ratioOf(chip), error: 0, mark: 1, text: textOf(chip) }));
  return (
    <ChartFrame title={t(title)} note={t('chips.note')} table={() => ({
      head: [t('chips.chip'), t('chips.predicted'), t('table.range'), t('chips.published'), t('chips.ratio')],
      rows: shown.map((chip) => {
        const { value, least, most, published } = chip[figure];
        return [nameOf(chip), quantity(value, unit, 3), `${quantity(least, unit, 3)} – ${quantity(most, unit, 3)}`, quantity(published ?? 0, unit, 3), textOf(chip)];
      }),
    })}>
      <IntervalBars bars={bars} most={longest(bars)} label={t(title)} />
    </ChartFrame>
  );
}
