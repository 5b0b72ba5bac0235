// Where the cycles of a stage go: by limiting resource and by operator.
import { useMemo } from 'react';
import type { Instruction } from '../api/types';
import { Bars, StackedBar } from '../chart/bars';
import { ChartFrame } from '../chart/chart_frame';
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { cyclesBy } from './sums';

export function TimeBreakdown({ program }: { program: Instruction[] }) {
  const { t } = useSpeech();
  const limiters = useMemo(() => cyclesBy(program, (one) => one.limiter, (name) => wordFor(t, 'limiter', name)), [program, t]);
  const operators = useMemo(() => cyclesBy(program, (one) => one.op, (name) => name), [program]);
  const total = limiters.reduce((sum, one) => sum + one.value, 0);
  const say = (list: typeof limiters) => list.map((one) => `${one.label} ${percent(one.value / total, 2)}`).join(', ');
  return (
    <>
      <ChartFrame
        title={t('time.by_limiter')}
        table={() => ({ head: [t('table.limiter'), t('table.cycles'), t('table.share')], rows: limiters.map((one) => [one.label, quantity(one.value, ''), percent(one.value / total)]) })}
      >
        <StackedBar bars={limiters} unit="cycles" label={`${t('time.by_limiter')}: ${say(limiters)}`} />
        <Bars bars={limiters} unit="cycles" coloured />
      </ChartFrame>
      <ChartFrame
        title={t('time.by_operator')}
        table={() => ({ head: [t('table.op'), t('table.cycles'), t('table.share')], rows: operators.map((one) => [one.label, quantity(one.value, ''), percent(one.value / total)]) })}
      >
        <Bars bars={operators} unit="cycles" />
      </ChartFrame>
    </>
  );
}
