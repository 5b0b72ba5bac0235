// The headline metrics of a design point as tiles.
import type { Metric } from '../api/types';
import { quantityParts } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';

const headline = ['throughput_fps', 'latency_s', 'energy_j_per_frame', 'power_w', 'area_mm2', 'dram_bytes_per_frame', 'weight_bytes_per_frame', 'stream_latency_s', 'utilization', 'stall_share', 'cycles_over_bound', 'dram_bytes_over_bound'];

export function Tiles({ metrics, before }: { metrics: Record<string, number | null>; before?: Record<string, number | null> | undefined }) {
  const tables = useMachineTables();
  const shown = headline.flatMap((name) => tables.metric(name) ?? []);
  return (
    <ul className="tiles">
      {shown.map((metric) => <Tile key={metric.name} metric={metric} value={metrics[metric.name] ?? null} before={before?.[metric.name] ?? null} />)}
    </ul>
  );
}

function Tile({ metric, value, before }: { metric: Metric; value: number | null; before: number | null }) {
  const { language } = useSpeech();
  const [number, unit] = value === null ? ['–', ''] : quantityParts(value, metric.unit, 4);
  return (
    <li className="tile" data-metric={metric.name}>
      <span className="tile-name">{metric.name}</span>
      <span className="tile-value">{number}<small>{unit}</small></span>
      {before !== null && value !== null && <Change metric={metric} value={value} before={before} />}
      <span className="tile-doc">{metric.doc[language]}</span>
    </li>
  );
}

/** How a value moved against another: the sign, and whether that is better, in words as well as in colour. */
function Change({ metric, value, before }: { metric: Metric; value: number; before: number }) {
  const { t } = useSpeech();
  if (before === 0 || value === before) return <span className="delta same">{t('delta.same')}</span>;
  const share = (value - before) / Math.abs(before);
  const good = metric.better === 'neither' ? null : (share > 0) === (metric.better === 'higher');
  const word = good === null ? '' : good ? t('delta.better') : t('delta.worse');
  return <span className={`delta ${good === null ? 'same' : good ? 'good' : 'bad'}`}>{share > 0 ? '+' : '−'}{Math.abs(share * 100).toPrecision(3)} % {word}</span>;
}
