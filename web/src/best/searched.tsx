// Which rows a search varies where nothing is said, and their values.
import { useSearchedRows } from '../api/queries';
import { inputText } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { ErrorBox, Skeleton } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';

export function SearchedRows() {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const rows = useSearchedRows();
  if (rows.isError) return <ErrorBox error={rows.error} retry={() => void rows.refetch()} />;
  if (rows.isPending) return <Skeleton lines={2} />;
  const text = (name: string, value: string | number | boolean) => {
    const parameter = tables.parameter(name);
    return parameter ? inputText(parameter, value) : String(value);
  };
  return (
    <details className="searched-rows">
      <summary>{t('best.rows', { count: rows.data.length })}</summary>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('best.rows', { count: rows.data.length })}>
        <table>
          <thead><tr><th scope="col">{t('machine.parameter')}</th><th scope="col">{t('best.values')}</th><th scope="col">{t('machine.meaning')}</th></tr></thead>
          <tbody>
            {rows.data.map((row) => (
              <tr key={row.parameter}>
                <th scope="row"><code>{row.parameter}</code></th>
                <td className="values">{row.values.map((value) => text(row.parameter, value)).join(', ')}</td>
                <td className="muted">{tables.parameter(row.parameter)?.doc[language]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
