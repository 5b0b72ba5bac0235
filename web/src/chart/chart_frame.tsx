// The frame of every chart: a title, what it says in words, and the same data as a table.
import { useId, useState, type ReactNode } from 'react';
import { useSpeech } from '../i18n/i18n';

export interface PlainTable {
  head: string[];
  rows: string[][];
}

interface Props {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  table: () => PlainTable;
  children: ReactNode;
}

const mostRows = 500;

export function ChartFrame({ title, note, actions, table, children }: Props) {
  const { t } = useSpeech();
  const [asTable, setAsTable] = useState(false);
  const id = useId();
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption>
        <h2 id={id}>{title}</h2>
        <div className="card-actions">
          {actions}
          <button type="button" className="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)} title={t('chart.table_hint')}>
            {asTable ? t('chart.as_chart') : t('chart.as_table')}
          </button>
        </div>
      </figcaption>
      {note !== undefined && <p className="chart-note">{note}</p>}
      {asTable ? <TableOf table={table()} label={title} /> : children}
    </figure>
  );
}

function TableOf({ table, label }: { table: PlainTable; label: string }) {
  const { t } = useSpeech();
  return (
    <div className="plain-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>{table.head.map((cell) => <th key={cell} scope="col">{cell}</th>)}</tr>
        </thead>
        <tbody>
          {table.rows.slice(0, mostRows).map((row, i) => (
            <tr key={i}>{row.map((cell, k) => (k === 0 ? <th key={k} scope="row">{cell}</th> : <td key={k}>{cell}</td>))}</tr>
          ))}
        </tbody>
      </table>
      {table.rows.length > mostRows && <p className="muted">{t('chart.first_rows', { count: mostRows, total: table.rows.length })}</p>}
    </div>
  );
}
