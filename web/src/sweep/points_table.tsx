// All points of a sweep, fetched as they come into view.
import { useCallback, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { usePoints } from '../api/queries';
import type { Cell, Sweep } from '../api/types';
import { columnText, plain, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { go, setQuery, useQueryState } from '../state/location';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { Outdated } from '../ui/outdated';
import { useMachineTables } from '../ui/tables_gate';
import { accuracyText, axesOf, isAccuracy } from './fields';
import { Check } from './pareto';

type Row = { cells: Cell[] };

const widths: Record<string, number> = { index: 80, feasible: 90, reason: 260 };

export function PointsTable({ sweep, formulas, version }: { sweep: Sweep; formulas: string[]; version: number }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const [sort] = useQueryState('sort', '');
  const [feasible] = useQueryState('feasible', '0');
  const [hidden, setHidden] = useState<Record<string, boolean>>({ reason: false });
  const points = usePoints(sweep.id, sort, feasible === '1', formulas, version);
  const names = points.data?.pages[0]?.columns ?? noNames;
  const rows = useMemo<Row[]>(() => points.data?.pages.flatMap((page) => page.rows.map((cells) => ({ cells }))) ?? [], [points.data]);
  const columns = useMemo<Column<Row>[]>(
    () => names.map((name, k): Column<Row> => ({
      id: name,
      title: name === 'index' ? t('table.point') : name === 'feasible' ? t('table.feasible') : name === 'reason' ? t('table.reason') : name,
      sortable: !isAccuracy(name),
      unit: name === 'sqnr_db' ? 'dB' : unitName(tables.unitOf(name)), width: widths[name] ?? 130, numeric: name !== 'reason' && name !== 'accuracy_weights',
      hint: tables.metric(name)?.doc[language] ?? tables.parameter(name)?.doc[language] ?? '',
      value: (row) => row.cells[k],
      show: (row) =>
        name === 'index' ? <Link href={`/sweeps/${sweep.id}/points/${row.cells[k]}`}>{String(row.cells[k])}</Link>
        : isAccuracy(name) ? accuracyText(row.cells[k])
        : name === 'feasible' ? (row.cells[k] ? t('word.yes') : t('word.no'))
        : columnText(row.cells[k], tables.unitOf(name)),
    })),
    [names, language, tables],
  );
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = points;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const index = names.indexOf('index');
  const total = points.data?.pages[0]?.total ?? 0;
  return (
    <Card
      title={t('points.title', { count: plain(total) })}
      actions={
        <>
          <Check label={t('points.only_feasible')} on={feasible === '1'} set={(on) => setQuery({ feasible: on ? '1' : null })} />
          <ColumnPicker names={names} swept={axesOf(sweep)} hidden={hidden} onChange={setHidden} />
        </>
      }
    >
      {points.isError ? <ErrorBox error={points.error} retry={() => void points.refetch()} />
        : points.isPending ? <Skeleton lines={8} />
        : rows.length === 0 ? <Empty title={t('points.empty')} />
        : (
          <Outdated when={points.isPlaceholderData}><DataTable
            label={t('points.title', { count: plain(total) })} columns={columns} rows={rows} hidden={hidden} onEnd={more} height={520}
            sort={{ id: sort.replace(/^-/, ''), descending: sort.startsWith('-') }}
            onSort={(id, descending) => setQuery({ sort: (descending ? '-' : '') + id })}
            onRow={(row) => go(`/sweeps/${sweep.id}/points/${row.cells[index]}`)}
          /></Outdated>
        )}
    </Card>
  );
}

const noNames: string[] = [];

interface PickerProps {
  names: string[];
  swept: string[];
  hidden: Record<string, boolean>;
  onChange: (hidden: Record<string, boolean>) => void;
}

function ColumnPicker({ names, swept, hidden, onChange }: PickerProps) {
  const { t } = useSpeech();
  return (
    <details className="picker">
      <summary className="button">{t('points.columns')}</summary>
      <div className="picker-list" role="group" aria-label={t('points.columns')}>
        <button type="button" className="quiet" onClick={() => onChange({})}>{t('points.all_columns')}</button>
        <button type="button" className="quiet" onClick={() => onChange(Object.fromEntries(names.filter((name) => name !== 'index' && !swept.includes(name)).map((name) => [name, false])))}>{t('points.no_columns')}</button>
        {names.filter((name) => name !== 'index').map((name) => (
          <Check key={name} label={name} on={hidden[name] !== false} set={(on) => onChange({ ...hidden, [name]: on })} />
        ))}
      </div>
    </details>
  );
}
