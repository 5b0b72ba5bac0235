// The machines that came next, and how each differs from the best.
import { Link } from 'wouter';
import type { FoundMachine, SearchResult } from '../api/types';
import { headed, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import { queryOfFound, type Asked } from './answer';
import { StepList } from './steps';

const mostShown = 10, mostSteps = 6;

export function NextBest({ result, asked }: { result: SearchResult; asked: Asked }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const metric = asked.metrics[0] ?? '';
  const unit = tables.unitOf(metric);
  const preset = tables.machineOf(asked.preset);
  return (
    <Card title={t('best.next')}>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('best.next')}>
        <table>
          <thead><tr><th scope="col">{headed(metric, unit)}</th><th scope="col">{t('best.differs')}</th><th scope="col"><span className="visually-hidden">{t('best.open')}</span></th></tr></thead>
          <tbody>
            {result.best.slice(1, mostShown + 1).map((one, k) => (
              <tr key={k}>
                <th scope="row">{quantity(one.objectives[metric], unit)}</th>
                <td><Differences one={one} /></td>
                <td><Link href={`/what-if?${queryOfFound(asked, preset, one)}`} aria-label={t('best.open_number', { number: k + 2 })}>{t('best.open')}</Link></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

export function Differences({ one }: { one: FoundMachine }) {
  const { t } = useSpeech();
  const left = one.differs.length - mostSteps;
  return (
    <>
      <StepList steps={one.differs.slice(0, mostSteps)} />
      {left > 0 && <span className="muted"> {t('best.and_more', { count: left })}</span>}
    </>
  );
}
