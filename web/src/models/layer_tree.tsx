// The modules of a network as an expandable treegrid: one row is in the tab order, arrows move, bars show MACs.
import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import type { LayerTree as Tree } from '../api/types';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { firstOpen, moved, searched, visibleRows, type TreeRow } from './tree_rows';

export function LayerTree({ tree, label }: { tree: Tree; label: string }) {
  const { t } = useSpeech();
  const [open, setOpen] = useState(() => firstOpen(tree));
  const [query, setQuery] = useState('');
  const [focus, setFocus] = useState('');
  const grid = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => visibleRows(tree, open, query), [tree, open, query]);
  const found = useMemo(() => searched(tree, query).found.size, [tree, query]);
  const current = rows.some((row) => row.id === focus) ? focus : '';
  const toggle = (id: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const onKey = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moved(rows, current, event.key);
    if (!move) return;
    event.preventDefault();
    if (move.toggle !== undefined && query.trim() === '') toggle(move.toggle);
    setFocus(move.focus);
    grid.current?.querySelector<HTMLElement>(`[data-row="${move.focus}"]`)?.focus();
  };
  return (
    <>
      <div className="row">
        <label className="inline">
          <span>{t('tree.search')}</span>
          <input type="search" value={query} onChange={(event) => setQuery(event.target.value)} />
        </label>
        <span className="muted" role="status">{query.trim() === '' ? t('tree.keys') : t('tree.found', { count: plain(found) })}</span>
      </div>
      <div className="layer-tree">
        <div role="treegrid" aria-label={label} ref={grid} onKeyDown={onKey}>
          <div role="rowgroup">
            <div role="row" className="layer-tree-head">
              <div role="columnheader">{t('tree.module')}</div>
              <div role="columnheader" className="numeric">{t('tree.nodes')}</div>
              <div role="columnheader" className="numeric">{t('tree.parameters')}</div>
              <div role="columnheader" className="numeric">MACs</div>
              <div role="columnheader">{t('tree.share')}</div>
            </div>
          </div>
          <div role="rowgroup">
            {rows.map((row) => (
              <Row key={row.id} row={row} whole={tree.macs} focused={row.id === current} onFocus={() => setFocus(row.id)} onToggle={() => toggle(row.id)} />
            ))}
          </div>
        </div>
      </div>
    </>
  );
}

function Row({ row, whole, focused, onFocus, onToggle }: { row: TreeRow; whole: number; focused: boolean; onFocus: () => void; onToggle: () => void }) {
  const { t } = useSpeech();
  const { tree } = row;
  const share = whole > 0 ? tree.macs / whole : 0;
  const name = tree.name === '' ? t('tree.model') : tree.name;
  return (
    <div
      role="row" data-row={row.id} className="layer-tree-row" tabIndex={focused ? 0 : -1} onFocus={onFocus}
      aria-level={row.level} aria-posinset={row.position} aria-setsize={row.siblings} {...(row.expandable ? { 'aria-expanded': row.open } : {})}
      onClick={(event) => { event.currentTarget.focus(); if (row.expandable) onToggle(); }}
    >
      <div role="gridcell" className="layer-tree-name" style={{ paddingLeft: 6 + 16 * (row.level - 1) }} title={row.path || name}>
        <span className="fold-mark" aria-hidden="true">{row.expandable ? (row.open ? '▾' : '▸') : ''}</span>
        <span className="clip">{name}</span>
        {tree.type !== '' && <span className="badge">{tree.type}</span>}
        {row.more > 0 && <span className="muted">{t('tree.more', { count: plain(row.more) })}</span>}
      </div>
      <div role="gridcell" className="numeric">{plain(tree.nodes)}</div>
      <div role="gridcell" className="numeric">{tree.parameters > 0 ? quantity(tree.parameters, '') : '–'}</div>
      <div role="gridcell" className="numeric">{tree.macs > 0 ? quantity(tree.macs, 'MAC', 3) : '–'}</div>
      <div role="gridcell" className="layer-tree-share">
        <span className="bar-track" aria-hidden="true"><span className="bar-fill" style={{ width: `${share * 100}%` }} /></span>
        <span>{tree.macs > 0 ? percent(share, 2) : '–'}</span>
      </div>
    </div>
  );
}
