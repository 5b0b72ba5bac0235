// The limit of a frame, in a sentence, in bars and in the formulas of its period and latency.
import type { Explanation } from '../api/types';
import { ChartFrame } from '../chart/chart_frame';
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { NeedBars, neededOf } from './needs';
import { Terms } from './terms';

export function Bottleneck({ explanation }: { explanation: Explanation }) {
  const { t } = useSpeech();
  const stage = explanation.stages.find((one) => one.name === explanation.pace);
  if (!stage) return null;
  const needs: Record<string, number> = stage.needed_cycles;
  const limited: Record<string, number> = stage.limited_cycles;
  return (
    <>
      <p className="verdict-line">
        {t('explain.pace', {
          stage: stage.name, resource: wordFor(t, 'limiter', stage.limiter), cycles: quantity(stage.cycles, 'cycles'),
          share: percent((needs[stage.limiter] ?? 0) / stage.cycles),
        })}
      </p>
      <p className="muted">
        {t('explain.bound', {
          bound: quantity(stage.bound_cycles, 'cycles'), share: percent(stage.bound_cycles / stage.cycles),
          least: quantity(stage.bound_dram_bytes, 'B'), bytes: quantity(stage.dram_bytes, 'B'),
          byte_share: stage.dram_bytes > 0 ? percent(stage.bound_dram_bytes / stage.dram_bytes) : '–',
        })}
      </p>
      <ChartFrame
        title={t('explain.needs')} note={t('explain.needs_note')}
        table={() => ({
          head: [t('table.limiter'), t('table.cycles'), t('explain.of_pass'), t('explain.slack'), t('time.by_limiter')],
          rows: neededOf(needs).map(([name, cycles]) => [
            wordFor(t, 'limiter', name), quantity(cycles, ''), percent(cycles / stage.cycles),
            quantity(stage.cycles - cycles, ''), percent((limited[name] ?? 0) / stage.cycles),
          ]),
        })}
      >
        <NeedBars needs={needs} cycles={stage.cycles} />
      </ChartFrame>
      <Terms terms={[...explanation.terms, ...stage.terms]} />
      <h3>{t('load.title')}</h3>
      <Terms terms={explanation.load} />
    </>
  );
}
