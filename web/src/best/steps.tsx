// Single steps around the best machine: what would better it and what forbids that; what further area buys.
import type { Parameter, ParameterValue, SearchResult } from '../api/types';
import { inputText } from '../form/values';
import { headed, percent, plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import type { Asked } from './answer';

interface Step {
  parameter: string;
  from: ParameterValue;
  to: ParameterValue;
}

export function StepText({ step }: { step: Step }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const parameter = tables.parameter(step.parameter);
  return <><code>{step.parameter}</code> {t('explain.step', { from: valueText(parameter, step.from), to: valueText(parameter, step.to) })}</>;
}

/** Several, one after the other. */
export const StepList = ({ steps }: { steps: Step[] }) => (
  <>{steps.map((step, k) => <span key={step.parameter}>{k > 0 && ', '}<StepText step={step} /></span>)}</>
);

export const valueText = (parameter: Parameter | undefined, value: ParameterValue): string => (parameter ? inputText(parameter, value) : String(value));

export function BetterSteps({ result, asked }: { result: SearchResult; asked: Asked }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const metric = asked.metrics[0] ?? '';
  const unit = tables.unitOf(metric);
  return (
    <Card title={t('best.beyond')}>
      {result.beyond.length === 0 ? <p className="muted">{t('best.beyond_none')}</p> : (
        <div className="plain-table" tabIndex={0} role="region" aria-label={t('best.beyond')}>
          <table>
            <thead><tr><th scope="col">{t('best.step')}</th><th scope="col">{headed(metric, unit)}</th><th scope="col">{t('best.forbids')}</th></tr></thead>
            <tbody>
              {result.beyond.map((step) => (
                <tr key={`${step.parameter} ${String(step.to)}`}>
                  <th scope="row"><StepText step={step} /></th>
                  <td>{quantity(step.value, unit)}</td>
                  <td>
                    {step.limit !== '' ? <span lang="en">{step.limit}</span>
                      : step.broken.length > 0 ? <>{step.broken.join(', ')} <span className="muted">{t('best.short_by', { share: percent(step.violation ?? 0, 3) })}</span></>
                      : t('best.not_met')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

const more = (value: number): string => (value > 0 ? `+${plain(value)}` : plain(value));

export function BoughtSteps({ result }: { result: SearchResult }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  return (
    <Card title={t('best.bought')}>
      {result.bought.length === 0 ? <p className="muted">{t('best.bought_none')}</p> : (
        <div className="plain-table" tabIndex={0} role="region" aria-label={t('best.bought')}>
          <table>
            <thead><tr><th scope="col">{t('best.step')}</th><th scope="col">{headed('area_mm2', tables.unitOf('area_mm2'))}</th><th scope="col">{headed('throughput_fps', tables.unitOf('throughput_fps'))}</th><th scope="col">{t('best.for_each')}</th></tr></thead>
            <tbody>
              {result.bought.map((step) => (
                <tr key={`${step.parameter} ${String(step.to)}`}>
                  <th scope="row"><StepText step={step} /></th>
                  <td>{more(step.area_mm2)}</td>
                  <td>{more(step.throughput_fps)}</td>
                  <td>{quantity(step.throughput_fps_per_mm2, 'frame/s/mm2')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
