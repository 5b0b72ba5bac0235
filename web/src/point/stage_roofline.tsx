// The roofline of a stage, of all its active cores together: which instructions the lanes limit and which DRAM does.
import { useMemo } from 'react';
import type { Stage } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { Roofline, type RooflineDot } from '../chart/roofline';
import { plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { channelLabel, cyclesOf, roofNone, roofNote, roofsOf } from './sums';

export function StageRoofline({ stage }: { stage: Stage }) {
  const { t } = useSpeech();
  const program = stage.instructions ?? [];
  const inMemory = program.filter((one) => one.macs > 0 && one.lane_macs === 0).length;
  const dots = useMemo<RooflineDot[]>(() => {
    const list = program.filter((one) => one.lane_macs > 0 && cyclesOf(one) > 0);
    const intensity = (one: (typeof list)[number]) => one.all_lane_macs / one.dram_bytes;
    const most = Math.max(...list.filter((one) => one.dram_bytes > 0).map(intensity), 1);
    return list.map((one) => ({
      id: one.index,
      // An instruction that moves nothing has no finite intensity: it stands at the right edge.
      intensity: one.dram_bytes > 0 ? intensity(one) : most * 2,
      rate: one.all_lane_macs / cyclesOf(one),
      colour: one.limiter,
    }));
  }, [program]);
  if (dots.length === 0) return <p className="muted">{roofNone(t, inMemory)}</p>;
  return (
    <ChartFrame
      title={t('roofline.title')} note={roofNote(t, stage.active_cores, inMemory)}
      table={() => ({
        head: [t('table.name'), t('roofline.x'), t('roofline.y'), t('table.limiter')],
        rows: dots.map((dot) => [program[dot.id]?.name ?? '', plain(dot.intensity, 3), plain(dot.rate, 3), wordFor(t, 'limiter', dot.colour)]),
      })}
    >
      <Roofline
        dots={dots} bytesPerCycle={stage.dram_bytes_per_cycle} roofs={roofsOf(t, stage.mac_roofs)}
        label={t('roofline.label', { count: dots.length })} xTitle={t('roofline.x')} yTitle={t('roofline.y')}
        memoryLabel={`DRAM ${channelLabel(stage.dram_bytes_per_cycle)}`}
        describe={(id) => {
          const one = program.find((other) => other.index === id);
          return one && (
            <>
              <strong>{one.name}</strong>
              <dl className="tip-facts">
                <dt>{t('table.op')}</dt><dd>{one.op}</dd>
                <dt>{t('table.cycles')}</dt><dd>{quantity(cyclesOf(one), 'cycles')}</dd>
                <dt>MAC</dt><dd>{quantity(one.all_lane_macs, 'MAC')}</dd>
                <dt>DRAM</dt><dd>{quantity(one.dram_bytes, 'B')}</dd>
                <dt>{t('table.limiter')}</dt><dd>{wordFor(t, 'limiter', one.limiter)}</dd>
              </dl>
            </>
          );
        }}
      />
    </ChartFrame>
  );
}
