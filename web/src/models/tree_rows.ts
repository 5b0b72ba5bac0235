// The rows of a layer tree as it stands open, and where the keys of a treegrid lead.
import type { LayerTree } from '../api/types';

export interface TreeRow {
  id: string; // places in the tree, "0.3.1"; the root is ""
  parent: string | null;
  tree: LayerTree;
  path: string;
  level: number;
  position: number; // among its siblings, from 1
  siblings: number;
  expandable: boolean;
  open: boolean;
  more: number; // children that the server left out, told below an open row
}

const childrenOf = (tree: LayerTree): LayerTree[] => tree.children ?? [];

/** The ids of everything that a search finds, and of what has to stand open for it to be seen. */
export function searched(root: LayerTree, query: string): { found: Set<string>; above: Set<string> } {
  const found = new Set<string>();
  const above = new Set<string>();
  const wanted = query.trim().toLowerCase();
  const visit = (tree: LayerTree, id: string, path: string): boolean => {
    const hit = path.toLowerCase().includes(wanted) || tree.type.toLowerCase() === wanted;
    let below = false;
    childrenOf(tree).forEach((child, k) => {
      below = visit(child, id === '' ? String(k) : `${id}.${k}`, `${path}/${child.name}`) || below;
    });
    if (hit && id !== '') found.add(id);
    if (below) above.add(id);
    return hit || below;
  };
  if (wanted !== '') visit(root, '', '');
  return { found, above };
}

/** The rows in view, top to bottom. A query leaves only what it finds and what leads there. */
export function visibleRows(root: LayerTree, open: ReadonlySet<string>, query: string): TreeRow[] {
  const rows: TreeRow[] = [];
  const { found, above } = searched(root, query);
  const searching = query.trim() !== '';
  const visit = (tree: LayerTree, id: string, parent: string | null, path: string, level: number, position: number, siblings: number) => {
    const children = childrenOf(tree);
    const expandable = children.length > 0 || (tree.more ?? 0) > 0;
    const isOpen = expandable && (searching ? above.has(id) : open.has(id));
    rows.push({ id, parent, tree, path, level, position, siblings, expandable, open: isOpen, more: isOpen && !searching ? tree.more ?? 0 : 0 });
    if (!isOpen) return;
    const shown = children
      .map((child, k) => ({ child, id: id === '' ? String(k) : `${id}.${k}` }))
      .filter((one) => !searching || found.has(one.id) || above.has(one.id));
    shown.forEach((one, k) => visit(one.child, one.id, id, `${path}/${one.child.name}`, level + 1, k + 1, shown.length));
  };
  visit(root, '', null, '', 1, 1, 1);
  return rows;
}

/** The effect of a key on the row that has the focus: the next focus, and a row to open or close. Null: not ours. */
export function moved(rows: TreeRow[], focus: string, key: string): { focus: string; toggle?: string } | null {
  const at = rows.findIndex((row) => row.id === focus);
  const row = rows[at];
  if (!row) return null;
  const to = (place: number) => ({ focus: rows[Math.min(Math.max(place, 0), rows.length - 1)]?.id ?? focus });
  if (key === 'ArrowDown') return to(at + 1);
  if (key === 'ArrowUp') return to(at - 1);
  if (key === 'Home') return to(0);
  if (key === 'End') return to(rows.length - 1);
  if (key === 'PageDown') return to(at + 12);
  if (key === 'PageUp') return to(at - 12);
  if (key === 'Enter' || key === ' ') return row.expandable ? { focus, toggle: focus } : { focus };
  if (key === 'ArrowRight') {
    if (row.expandable && !row.open) return { focus, toggle: focus };
    return row.open && rows[at + 1]?.parent === row.id ? to(at + 1) : { focus };
  }
  if (key === 'ArrowLeft') {
    if (row.open) return { focus, toggle: focus };
    return { focus: row.parent ?? focus };
  }
  return null;
}

/** The rows that are open at first: the root, and below it what is alone. */
export function firstOpen(root: LayerTree): Set<string> {
  const open = new Set<string>(['']);
  let tree = root;
  let id = '';
  while (childrenOf(tree).length === 1) {
    tree = childrenOf(tree)[0] ?? tree;
    id = id === '' ? '0' : `${id}.0`;
    open.add(id);
  }
  return open;
}
