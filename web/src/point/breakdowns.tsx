// Energy, area and latency of a design point by part.
import type { Analysis, Part } from '../api/types';
import { Bars } from '../chart/bars';
import { ChartFrame } from '../chart/chart_frame';
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor, type Key } from '../i18n/i18n';
import { Card } from '../ui/basics';

export function Breakdowns({ analysis }: { analysis: Analysis }) {
  return (
    <div className="three-charts">
      <Breakdown title="breakdown.latency" parts={analysis.latency_s} unit="s" />
      <Breakdown title="breakdown.energy" parts={analysis.energy_j} unit="J" />
      <Breakdown title="breakdown.area" parts={analysis.area_mm2} unit="mm2" />
    </div>
  );
}

function Breakdown({ title, parts, unit }: { title: Key; parts: Part[]; unit: string }) {
  const { t } = useSpeech();
  const bars = parts.map((one) => ({ name: one.part, label: wordFor(t, 'part', one.part), value: one.value ?? 0 }));
  const total = bars.reduce((sum, one) => sum + one.value, 0);
  return (
    <Card>
      <ChartFrame
        title={`${t(title)} · ${quantity(total, unit)}`}
        table={() => ({ head: [t('table.part'), t(title), t('table.share')], rows: bars.map((one) => [one.label, quantity(one.value, unit), total > 0 ? percent(one.value / total) : '–']) })}
      >
        <Bars bars={bars} unit={unit} />
      </ChartFrame>
    </Card>
  );
}
