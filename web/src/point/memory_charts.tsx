// Bytes that the SRAMs hold and that DRAM moves over the stage's program.
import { useMemo } from 'react';
import type { Stage } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { OccupancyChart, type Panel } from '../chart/occupancy';
import { quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { channelLabel, cyclesOf, limitsOf } from './sums';

export function MemoryCharts({ stage }: { stage: Stage }) {
  const { t } = useSpeech();
  const program = stage.instructions ?? [];
  const panels = useMemo<Panel[]>(() => {
    const limits = (memory: string) => limitsOf(stage.memory_capacities, memory);
    const sides: Panel['series'] = [
      { name: 'dsram_read', label: t('memory.read_side'), value: (one) => one.dsram_read_side_bytes },
      { name: 'dsram_write', label: t('memory.write_side'), value: (one) => one.dsram_write_side_bytes }];
    const held: Panel['series'] = [{ name: 'stackram_read', label: t('memory.held'), value: (one) => one.stackram_bytes }];
    const unified = limitsOf(stage.memory_capacities, 'unified', t('memory.unified'));
    const inUse: Panel['series'] = [{ name: 'stackram_read', label: t('memory.held'), value: (one) => one.stackram_bytes + one.dsram_read_side_bytes + one.dsram_write_side_bytes }];
    return [
      ...(unified.length > 0
        ? [{ title: t('memory.unified'), unit: 'B', limits: unified, series: inUse }]
        : [{ title: 'DSRAM', unit: 'B', limits: limits('DSRAM'), series: sides },
           { title: 'STACKRAM', unit: 'B', limits: limits('STACKRAM'), series: held }]),
      { title: 'PSRAM', unit: 'B', limits: limits('PSRAM'), series: [{ name: 'psram_read', label: t('memory.held'), value: (one) => one.psram_bytes }] },
      { title: t('memory.dram_rate'), unit: 'B', rate: true, limits: [{ value: stage.dram_bytes_per_cycle, label: channelLabel(stage.dram_bytes_per_cycle) }], series: [
        { name: 'weight_stream', label: t('memory.weights'), value: (one) => one.dram_weights_bytes },
        { name: 'activation_in', label: t('memory.activations_in'), value: (one) => one.all_dram_activations_in_bytes },
        { name: 'activation_out', label: t('memory.activations_out'), value: (one) => one.all_dram_activations_out_bytes },
        { name: 'program_stream', label: t('memory.program'), value: (one) => one.dram_program_bytes }] },
    ];
  }, [stage, t]);
  const bytes = (value: number) => quantity(value, 'B');
  return (
    <ChartFrame
      title={t('memory.title')} note={t('memory.note')}
      table={() => ({
        head: [t('table.name'), t('table.start'), `DSRAM ${t('memory.read_side')}`, `DSRAM ${t('memory.write_side')}`, 'STACKRAM', 'PSRAM', t('memory.weights'), t('memory.activations_in'), t('memory.activations_out'), t('memory.program')],
        rows: program.map((one) => [one.name, quantity(one.start_cycle, ''), bytes(one.dsram_read_side_bytes), bytes(one.dsram_write_side_bytes), bytes(one.stackram_bytes), bytes(one.psram_bytes), bytes(one.dram_weights_bytes), bytes(one.all_dram_activations_in_bytes), bytes(one.all_dram_activations_out_bytes), bytes(one.dram_program_bytes)]),
      })}
    >
      <OccupancyChart
        program={program} panels={panels} label={t('memory.label', { name: stage.name, count: program.length })}
        describe={(one) => (
          <>
            <strong>{one.name}</strong>
            <dl className="tip-facts">
              <dt>{t('table.op')}</dt><dd>{one.op}</dd>
              <dt>{t('table.cycles')}</dt><dd>{quantity(cyclesOf(one), 'cycles')}</dd>
              <dt>{t('table.limiter')}</dt><dd>{wordFor(t, 'limiter', one.limiter)}</dd>
            </dl>
          </>
        )}
      />
    </ChartFrame>
  );
}
