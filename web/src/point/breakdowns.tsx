// Energy, area and latency of a design point by part.
import { useChips } from '../api/queries';
import type { Analysis, Part } from '../api/types';
import { Bars } from '../chart/bars';
import { ChartFrame } from '../chart/chart_frame';
import { KnownChips } from '../chart/known_chips';
import { movedText } from '../format/change';
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor, type Key, type Translate } from '../i18n/i18n';
import { Card } from '../ui/basics';

export function Breakdowns({ analysis }: { analysis: Analysis }) {
  const { t } = useSpeech();
  const chips = useChips();
  const stages = analysis.stages.map(({ name, frame_energy_j: energy }): RangedPart => ({ part: name, ...energy }));
  const waiting = analysis.waiting_energy_j.map((one): RangedPart =>
    ({ ...one, part: t('breakdown.waits', { what: wordFor(t, 'part', one.part) }) }));
  return (
    <div className="three-charts">
      <Breakdown title="breakdown.latency" parts={analysis.latency_s} unit="s" />
      <Breakdown title="breakdown.energy" parts={analysis.energy_j} unit="J"
        more={[assumedText(t, analysis.assumed_shares.energy), knownText(t, 'breakdown.known_power', analysis.known_chips.power)]} />
      <Breakdown title="breakdown.energy_by_stage" parts={[...stages, ...waiting]} unit="J" />
      <Breakdown title="breakdown.area" parts={analysis.area_mm2} unit="mm2" 
        more={[assumedText(t, analysis.assumed_shares.area), knownText(t, 'breakdown.known_area', analysis.known_chips.area), diesText(t, analysis.dies)]} />
      {analysis.price_usd.length > 0 && <Breakdown title="breakdown.price" parts={analysis.price_usd} unit="USD" />}
      {chips.data && <Card><KnownChips chips={chips.data} figure="area_mm2" title="chips.area" /></Card>}
      {chips.data && <Card><KnownChips chips={chips.data} figure="power_w" title="chips.power" /></Card>}
    </div>
  );
}

/** A part whose figure may lie anywhere between two ends. */
type RangedPart = Part & { least?: number | null; most?: number | null };

const sum = (values: (number | null | undefined)[]) => values.reduce<number>((total, one) => total + (one ?? 0), 0);

const assumedText = (t: Translate, share: number) => t('breakdown.assumed', { share: percent(share, 2) });

/** How far chips that were published lie from what is said of them. */
const knownText = (t: Translate, key: Key, errors: Analysis['known_chips']['area']) =>
  t(key, { least: movedText(errors.least), most: movedText(errors.most), chips: errors.chips });

/** "1 die of 499 mm2, 66 % yield; 3 dies of ..." */
const diesText = (t: Translate, dies: Analysis['dies']) =>
  dies.map((die) => t(die.count === 1 ? 'breakdown.die' : 'breakdown.dies',
    { count: String(die.count), area: quantity(die.area_mm2.value ?? 0, 'mm2', 3), yield: percent(die.yield) })).join('; ');

function Breakdown({ title, parts, unit, more }: { title: Key; parts: RangedPart[]; unit: string; more?: string[] }) {
  const { t } = useSpeech();
  const bars = parts.map((one) => ({ name: one.part, label: wordFor(t, 'part', one.part), value: one.value ?? 0 }));
  const total = sum(bars.map((one) => one.value));
  const ranged = parts.some((one) => one.most !== undefined);
  const range = (of: RangedPart[]) => `${quantity(sum(of.map((one) => one.least)), unit, 3)} – ${quantity(sum(of.map((one) => one.most)), unit, 3)}`;
  return (
    <Card>
      <ChartFrame
        title={`${t(title)} · ${quantity(total, unit)}`}
        {...(ranged && { note: [t('breakdown.range', { range: range(parts) }), ...(more ?? [])].filter(Boolean).join('. ') })}
        table={() => ({
          head: [t('table.part'), t(title), t('table.share'), ...(ranged ? [t('table.range')] : [])],
          rows: bars.map((one, i) => [one.label, quantity(one.value, unit), total > 0 ? percent(one.value / total) : '–', ...(ranged ? [range(parts.slice(i, i + 1))] : [])]),
        })}
      >
        <Bars bars={bars} unit={unit} />
      </ChartFrame>
    </Card>
  );
}
