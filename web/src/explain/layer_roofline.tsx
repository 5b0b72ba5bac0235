// The layers of a stage under the machine's roofs.
import { useMemo, useState } from 'react';
import type { Explanation } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { Roofline, type RooflineDot } from '../chart/roofline';
import { plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { channelLabel, roofNone, roofNote, roofsOf } from '../point/sums';
import { Card, Segments } from '../ui/basics';

export function LayerRoofline({ explanation }: { explanation: Explanation }) {
  const { t } = useSpeech();
  const [wanted, setWanted] = useState(explanation.pace);
  const number = Math.max(0, explanation.stages.findIndex((one) => one.name === wanted));
  const stage = explanation.stages[number];
  const layers = useMemo(
    () => explanation.layers.filter((one) => one.stage === number && one.lane_macs > 0 && one.cycles > 0), [explanation, number]);
  const inMemory = explanation.layers.filter((one) => one.stage === number && one.macs > 0 && one.lane_macs === 0).length;
  const dots = useMemo<RooflineDot[]>(() => {
    const most = Math.max(...layers.filter((one) => one.dram_bytes > 0).map((one) => one.lane_macs / one.dram_bytes), 1);
    return layers.map((one) => ({
      id: one.index,
      // A layer that moves nothing has no finite intensity: it stands at the right edge.
      intensity: one.dram_bytes > 0 ? one.lane_macs / one.dram_bytes : most * 2,
      rate: one.lane_macs / one.cycles,
      colour: one.limiter,
    }));
  }, [layers]);
  if (!stage) return null;
  const layerOf = (id: number) => layers.find((one) => one.index === id);
  return (
    <Card>
      {explanation.stages.length > 1 && (
        <Segments label={t('explain.roofline_stage')} items={explanation.stages.map((one) => ({ id: one.name, label: one.name }))} value={stage.name} onChange={setWanted} />
      )}
      {dots.length === 0 ? <p className="muted">{roofNone(t, inMemory)}</p> : (
        <ChartFrame
          title={t('roofline.title')} note={roofNote(t, stage.active_cores, inMemory)}
          table={() => ({
            head: [t('table.name'), t('roofline.x'), t('roofline.y'), t('table.limiter')],
            rows: dots.map((dot) => [layerOf(dot.id)?.name ?? '', plain(dot.intensity, 3), plain(dot.rate, 3), wordFor(t, 'limiter', dot.colour)]),
          })}
        >
          <Roofline
            dots={dots} bytesPerCycle={stage.dram_bytes_per_cycle} roofs={roofsOf(t, stage.mac_roofs)} label={t('roofline.label', { count: dots.length })}
            xTitle={t('roofline.x')} yTitle={t('roofline.y')} memoryLabel={`DRAM ${channelLabel(stage.dram_bytes_per_cycle)}`}
            describe={(id) => {
              const one = layerOf(id);
              return one && (
                <>
                  <strong>{one.name}</strong>
                  <dl className="tip-facts">
                    <dt>{t('table.op')}</dt><dd>{one.op}</dd>
                    <dt>{t('table.cycles')}</dt><dd>{quantity(one.cycles, 'cycles')}</dd>
                    <dt>MAC</dt><dd>{quantity(one.lane_macs, 'MAC')}</dd>
                    <dt>DRAM</dt><dd>{quantity(one.dram_bytes, 'B')}</dd>
                    <dt>{t('table.limiter')}</dt><dd>{wordFor(t, 'limiter', one.limiter)}</dd>
                  </dl>
                </>
              );
            }}
          />
        </ChartFrame>
      )}
    </Card>
  );
}
