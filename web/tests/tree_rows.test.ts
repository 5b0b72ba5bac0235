// A layer tree's rows and the keys of its treegrid.
import { describe, expect, test } from 'vitest';
import type { LayerTree } from '../src/api/types';
import { firstOpen, moved, searched, visibleRows } from '../src/models/tree_rows';

const leaf = (name: string, type: string): LayerTree => ({ name, type, nodes: 1, macs: 4, parameters: 2, elements: 0 });
const tree: LayerTree = {
  name: 'unet', type: '', nodes: 5, macs: 16, parameters: 8, elements: 9,
  children: [
    { name: 'down', type: '', nodes: 3, macs: 8, parameters: 4, elements: 0, children: [leaf('conv1', 'Conv'), leaf('conv2', 'Conv')], more: 1 },
    leaf('out', 'Conv'),
  ],
};
const names = (open: string[], query = '') => visibleRows(tree, new Set(open), query).map((row) => row.tree.name);

describe('rows', () => {
  test('only what stands open is in view', () => {
    expect(names([])).toEqual(['unet']);
    expect(names([''])).toEqual(['unet', 'down', 'out']);
    expect(names(['', '0'])).toEqual(['unet', 'down', 'conv1', 'conv2', 'out']);
  });
  test('a row knows its level, its place among its siblings and what was left out below it', () => {
    const rows = visibleRows(tree, new Set(['', '0']), '');
    expect(rows.map((row) => [row.level, row.position, row.siblings])).toEqual([[1, 1, 1], [2, 1, 2], [3, 1, 2], [3, 2, 2], [2, 2, 2]]);
    expect(rows.map((row) => row.more)).toEqual([0, 1, 0, 0, 0]);
    expect(rows.map((row) => row.expandable)).toEqual([true, true, false, false, false]);
  });
  test('a search shows what it finds and what leads there', () => {
    expect(names([], 'conv2')).toEqual(['unet', 'down', 'conv2']);
    expect(names([], 'OUT')).toEqual(['unet', 'out']);
    expect(names([], 'down/conv1')).toEqual(['unet', 'down', 'conv1']);
    expect(searched(tree, 'conv').found.size).toBe(3);
    expect(searched(tree, '  ').found.size).toBe(0);
    expect(names([], 'nowhere')).toEqual(['unet']);
  });
  test('at first the root is open, and what stands alone below it', () => {
    expect([...firstOpen(tree)]).toEqual(['']);
    expect([...firstOpen({ ...tree, children: [tree] })]).toEqual(['', '0']);
  });
});

describe('keys', () => {
  const rows = visibleRows(tree, new Set(['', '0']), '');
  test('up, down, Home and End move and stop at the ends', () => {
    expect(moved(rows, '', 'ArrowDown')).toEqual({ focus: '0' });
    expect(moved(rows, '', 'ArrowUp')).toEqual({ focus: '' });
    expect(moved(rows, '0', 'End')).toEqual({ focus: '1' });
    expect(moved(rows, '1', 'Home')).toEqual({ focus: '' });
    expect(moved(rows, '0.1', 'PageDown')).toEqual({ focus: '1' });
  });
  test('right opens, then enters; left closes, then leaves', () => {
    const closed = visibleRows(tree, new Set(['']), '');
    expect(moved(closed, '0', 'ArrowRight')).toEqual({ focus: '0', toggle: '0' });
    expect(moved(rows, '0', 'ArrowRight')).toEqual({ focus: '0.0' });
    expect(moved(rows, '0.0', 'ArrowRight')).toEqual({ focus: '0.0' });
    expect(moved(rows, '0.0', 'ArrowLeft')).toEqual({ focus: '0' });
    expect(moved(rows, '0', 'ArrowLeft')).toEqual({ focus: '0', toggle: '0' });
  });
  test('Enter and Space open and close; other keys are not ours', () => {
    expect(moved(rows, '0', 'Enter')).toEqual({ focus: '0', toggle: '0' });
    expect(moved(rows, '1', ' ')).toEqual({ focus: '1' });
    expect(moved(rows, '0', 'Tab')).toBeNull();
    expect(moved(rows, 'gone', 'ArrowDown')).toBeNull();
  });
});
