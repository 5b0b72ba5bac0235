// The headline metrics of a design point as tiles.
import type { Metric } from '../api/types';
import { judged, movedShare, movedText, noDifferenceText } from '../format/change';
import { quantityParts } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';

const headline = ['throughput_fps', 'latency_s', 'energy_j_per_frame', 'power_w', 'area_mm2', 'price_usd', 'million_images_usd', 'dram_bytes_per_frame', 'weight_bytes_per_frame', 'stream_latency_s', 'utilization', 'stall_share', 'cycles_over_bound', 'dram_bytes_over_bound'];

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
      <span className="tile-name">{metric.name}{metric.better !== 'neither' && <Direction higher={metric.better === 'higher'} />}</span>
      <span className="tile-value">{number}<small>{unit}</small></span>
      {before !== null && value !== null && <Change metric={metric} value={value} before={before} />}
      <span className="tile-doc">{metric.doc[language]}</span>
    </li>
  );
}

/** Which way is better: a minus before a green figure is then no riddle. */
function Direction({ higher }: { higher: boolean }) {
  const { t } = useSpeech();
  const words = t(higher ? 'tile.higher' : 'tile.lower');
  return <span title={words}><span aria-hidden="true"> {higher ? '↑' : '↓'}</span><span className="visually-hidden"> ({words})</span></span>;
}

/** How a value moved against another; sign, colour and word come of one judgement. */
function Change({ metric, value, before }: { metric: Metric; value: number; before: number }) {
  const { t } = useSpeech();
  const judgement = judged(before, value, metric.better);
  if (judgement === 'same') {
    const word = value === before ? t('delta.same') : t('delta.no_difference', { share: noDifferenceText });
    return <span className="delta same">{word}</span>;
  }
  const share = movedShare(before, value);
  const moved = share === null ? t('delta.from_zero') : movedText(share);
  const look = judgement === 'better' ? 'good' : judgement === 'worse' ? 'bad' : 'same';
  return <span className={`delta ${look}`}>{judgement === 'neither' ? moved : t(judgement === 'better' ? 'delta.better' : 'delta.worse', { moved })}</span>;
}
