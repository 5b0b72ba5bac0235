// A table of any length: only the rows in view are in the document.
import {
  columnVisibilityFeature, createSortedRowModel, rowSortingFeature, tableFeatures, useTable, type ColumnDef,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, useEffect, useMemo, useRef, type ReactNode } from 'react';
import { useSpeech } from '../i18n/i18n';

export const features = tableFeatures({
  columnVisibilityFeature, rowSortingFeature, sortedRowModel: createSortedRowModel(),
});

export interface Column<Row> {
  id: string;
  title: string;
  unit?: string;
  hint?: string;
  width: number;
  numeric?: boolean;
  /** False where the rows cannot be had in its order. */
  sortable?: boolean;
  value: (row: Row) => string | number | boolean | null | undefined;
  show?: (row: Row) => ReactNode;
}

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  hidden?: Record<string, boolean> | undefined;
  /** When the rows come sorted from elsewhere: the order, and how to ask for another. */
  sort?: { id: string; descending: boolean };
  onSort?: (id: string, descending: boolean) => void;
  onRow?: (row: Row) => void;
  onEnd?: () => void;
  marked?: (row: Row) => boolean;
  height?: number;
}

const rowHeight = 30;

export function DataTable<Row extends object>(props: Props<Row>) {
  const { t } = useSpeech();
  const scroller = useRef<HTMLDivElement>(null);
  const columns = useMemo<ColumnDef<typeof features, Row>[]>(() => props.columns.map((column) => ({
    id: column.id,
    accessorFn: (row: Row) => column.value(row) ?? undefined,
    sortUndefined: 'last' as const,
    sortFn: (a, b, id) => {
      const [x, y] = [a.getValue<string | number>(id), b.getValue<string | number>(id)];
      return x < y ? -1 : x > y ? 1 : 0;
    },
  })), [props.columns]);
  const manual = props.onSort !== undefined;
  const table = useTable({
    features, columns, data: props.rows, manualSorting: manual, enableSortingRemoval: false,
    state: { columnVisibility: props.hidden ?? noneHidden },
  });
  const rows = table.getRowModel().rows;
  const virtualizer = useVirtualizer({
    count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const last = items[items.length - 1]?.index ?? 0;
  const { onEnd } = props;
  useEffect(() => {
    if (onEnd && rows.length > 0 && last >= rows.length - 40) onEnd();
  }, [last, rows.length, onEnd]);

  const visible = props.columns.filter((column) => props.hidden?.[column.id] !== false);
  const template = visible.map((column) => `minmax(${column.width}px, ${column.numeric ? '1fr' : '2fr'})`).join(' ');
  const least = visible.reduce((sum, column) => sum + column.width, 0);
  const sorted = (id: string): boolean | null => {
    if (manual) return props.sort?.id === id ? props.sort.descending : null;
    const state = table.getColumn(id)?.getIsSorted();
    return state ? state === 'desc' : null;
  };
  const sortBy = (column: Column<Row>) => {
    const now = sorted(column.id);
    const descending = now === null ? column.numeric === true : !now;
    if (props.onSort) props.onSort(column.id, descending);
    else table.setSorting([{ id: column.id, desc: descending }]);
  };
  return (
    <div className="data-table" ref={scroller} style={{ height: Math.min(props.height ?? 480, rows.length * rowHeight + 76) }} tabIndex={0} role="region" aria-label={props.label}>
      <div role="table" aria-label={props.label} aria-rowcount={rows.length + 1} style={{ minWidth: least }}>
        <div role="rowgroup" className="data-head">
          <div role="row" style={{ gridTemplateColumns: template }}>
            {visible.map((column) => {
              const direction = sorted(column.id);
              return (
                <div
                  key={column.id} role="columnheader" className={column.numeric ? 'numeric' : ''}
                  aria-sort={direction === null ? 'none' : direction ? 'descending' : 'ascending'}
                >
                  <button type="button" onClick={() => sortBy(column)} disabled={column.sortable === false} title={[column.sortable === false ? '' : t('table.sort_by', { column: column.title }), column.hint ?? ''].filter((text) => text !== '').join(' · ')}>
                    <span>{breakable(column.title)}</span>
                    {column.unit && <span className="unit">{column.unit}</span>}
                    <span className="sort-mark" aria-hidden="true">{direction === null ? '' : direction ? '▼' : '▲'}</span>
                  </button>
                </div>
              );
            })}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const { onRow } = props;
            return (
              <div
                key={row.id} role="row" aria-rowindex={item.index + 2}
                className={`data-row ${item.index % 2 ? 'odd' : ''} ${props.marked?.(row.original) ? 'marked' : ''} ${onRow ? 'clickable' : ''}`}
                style={{ gridTemplateColumns: template, transform: `translateY(${item.start}px)`, height: rowHeight }}
                onClick={onRow ? () => onRow(row.original) : undefined}
              >
                {visible.map((column) => (
                  <div key={column.id} role="cell" className={column.numeric ? 'numeric' : ''}>
                    {column.show ? column.show(row.original) : String(column.value(row.original) ?? '–')}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** A name that may break after its underscores only. */
const breakable = (name: string): ReactNode =>
  name.split(/(?<=_)/).map((part, k) => <Fragment key={k}>{k > 0 && <wbr />}{part}</Fragment>);

const noneHidden: Record<string, boolean> = {};
