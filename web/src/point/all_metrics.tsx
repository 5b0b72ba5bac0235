// Every metric of a design point in its unit, with what it means.
import { quantity, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';

export function AllMetrics({ metrics }: { metrics: Record<string, number | null> }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  return (
    <Card title={t('point.metrics')}>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('point.metrics')}>
        <table>
          <thead><tr><th scope="col">{t('table.metric')}</th><th scope="col">{t('machine.value')}</th><th scope="col">{t('table.exact')}</th><th scope="col">{t('machine.meaning')}</th></tr></thead>
          <tbody>
            {tables.metrics.map((one) => (
              <tr key={one.name}>
                <th scope="row"><code>{one.name}</code></th>
                <td><strong>{quantity(metrics[one.name], one.unit)}</strong></td>
                <td className="muted">{metrics[one.name] ?? '–'} {metrics[one.name] === null ? '' : unitName(one.unit)}</td>
                <td className="muted">{one.doc[language]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
