// The front as a table: each row opens its point.
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { Columns, Sweep } from '../api/types';
import { columnText, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { go } from '../state/location';
import { Card, Empty } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { useMachineTables } from '../ui/tables_gate';
import { accuracyFields, accuracyOrder, accuracyText } from './fields';

interface Row {
  at: number;
  index: number;
}

export function FrontTable({ sweep, columns, front, shown }: { sweep: Sweep; columns: Columns; front: number[]; shown: string[] }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const rows = useMemo<Row[]>(() => front.map((at) => ({ at, index: columns.index[at] ?? 0 })), [front, columns]);
  const href = (row: Row) => `/sweeps/${sweep.id}/points/${row.index}`;
  const list = useMemo<Column<Row>[]>(
    () => [
      { id: 'index', title: t('table.point'), width: 80, numeric: true, value: (row) => row.index, show: (row) => <Link href={href(row)}>{row.index}</Link> },
      ...shown.map((name): Column<Row> => ({
        id: name, title: name, unit: unitName(tables.unitOf(name)), width: 120, numeric: true,
        hint: tables.metric(name)?.doc[language] ?? tables.parameter(name)?.doc[language] ?? '',
        value: (row) => columns.columns[name]?.[row.at],
        show: (row) => columnText(columns.columns[name]?.[row.at], tables.unitOf(name)),
      })),
      ...accuracyFields.map((name): Column<Row> => ({
        id: name, title: t(`accuracy.${name}`), unit: name === 'sqnr_db' ? 'dB' : '', width: 120, numeric: name !== 'accuracy_weights', hint: t(`accuracy.${name}_hint`),
        value: (row) => accuracyOrder(columns.columns[name]?.[row.at]),
        show: (row) => accuracyText(columns.columns[name]?.[row.at]),
      })),
    ],
    [columns, shown.join(','), language, tables],
  );
  return (
    <Card title={t('front.title', { count: front.length })} {...(sweep.measuring_accuracy ? { actions: <span className="muted" role="status">{t('accuracy.measuring')}</span> } : {})}>
      {rows.length === 0 ? <Empty title={t('front.empty')} /> : <DataTable label={t('front.title', { count: front.length })} columns={list} rows={rows} onRow={(row) => go(href(row))} height={330} />}
    </Card>
  );
}
