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
import { StepList } from '../best/steps';
import type { Knee } from '../chart/knees';
import { accuracyFields, accuracyOrder, accuracyText } from './fields';

interface Row {
  at: number;
  index: number;
  /** The point before it on the front, -1 of the first. */
  before: number;
  knee: Knee;
}

interface Props {
  sweep: Sweep;
  columns: Columns;
  front: number[];
  /** One for each point of the front. */
  knees: Knee[];
  shown: string[];
  swept: string[];
}

const kneeOrder: Record<Knee, number> = { none: 0, local: 1, greatest: 2 };

export function FrontTable({ sweep, columns, front, knees, shown, swept }: Props) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const rows = useMemo<Row[]>(() => front.map((at, k) => ({ at, index: columns.index[at] ?? 0, before: front[k - 1] ?? -1, knee: knees[k] ?? 'none' })), [front, knees, columns]);
  const href = (row: Row) => `/sweeps/${sweep.id}/points/${row.index}`;
  const stepsTo = (row: Row) => swept.flatMap((parameter) => {
    const [from, to] = [columns.columns[parameter]?.[row.before], columns.columns[parameter]?.[row.at]];
    return from == null || to == null || from === to ? [] : [{ parameter, from, to }];
  });
  const list = useMemo<Column<Row>[]>(
    () => [
      { id: 'index', title: t('table.point'), width: 80, numeric: true, value: (row) => row.index, show: (row) => <Link href={href(row)}>{row.index}</Link> },
      { id: 'knee', title: t('front.knee_column'), width: 110, hint: t('front.knee_key'), value: (row) => kneeOrder[row.knee], show: (row) => (row.knee === 'none' ? '' : t(`knee.${row.knee}`)) },
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
      { id: 'differs', title: t('best.differs_before'), width: 380, sortable: false, value: (row) => stepsTo(row).length, show: (row) => <span className="clip"><StepList steps={stepsTo(row)} /></span> },
    ],
    [columns, shown.join(','), language, tables],
  );
  return (
    <Card title={t('front.title', { count: front.length })} {...(sweep.measuring_accuracy ? { actions: <span className="muted" role="status">{t('accuracy.measuring')}</span> } : {})}>
      {rows.length === 0 ? <Empty title={t('front.empty')} /> : <DataTable label={t('front.title', { count: front.length })} columns={list} rows={rows} onRow={(row) => go(href(row))} height={330} />}
    </Card>
  );
}
