// The tables of a report: live bytes, layers of equal work, largest tensors.
import type { ReactNode } from 'react';
import type { ModelReport } from '../api/types';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { DataTable, type Column } from '../ui/data_table';

interface PlainRow {
  key: string;
  cells: ReactNode[];
}

/** A short table; columns from `numericFrom` to before `numericTo` hold numbers. */
export function PlainTable({ label, heads, rows, numericFrom = 99, numericTo = 99 }: { label: string; heads: string[]; rows: PlainRow[]; numericFrom?: number; numericTo?: number }) {
  const kind = (k: number) => (k >= numericFrom && k < numericTo ? 'numeric' : '');
  return (
    <div className="plain-table model-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead><tr>{heads.map((head, k) => <th key={head} scope="col" className={kind(k)}>{head}</th>)}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              {row.cells.map((cell, k) => (k === 0 ? <th key={heads[k]} scope="row">{cell}</th> : <td key={heads[k]} className={kind(k)}>{cell}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How many bytes are alive at once in the file's order, by what is taken to share them; and the skips. */
export function Alive({ report }: { report: ModelReport }) {
  const { t } = useSpeech();
  const { residual } = report;
  const skips = residual.add_skips + residual.concat_skips;
  return (
    <>
      <PlainTable
        label={t('report.alive')} numericFrom={1} numericTo={5}
        heads={[t('alive.rule'), 'int8', 'fp16', t('alive.intervals'), t('alive.crossings'), t('alive.node')]}
        rows={report.live.map((one) => ({
          key: one.rule,
          cells: [
            <span key="rule" title={wordFor(t, 'rule', one.rule)}>{wordFor(t, 'rule', one.rule)}</span>, quantity(one.int8_bytes, 'B'), quantity(one.fp16_bytes, 'B'),
            plain(one.intervals), plain(one.crossings), <code key="node">{one.node}</code>,
          ],
        }))}
      />
      <p className="muted">{t('alive.note')}</p>
      <p>
        {t('alive.adds', { count: plain(residual.adds) })}{' '}
        {skips === 0 ? t('alive.no_skips') : t('alive.skips', { concats: plain(residual.concat_skips), adds: plain(residual.add_skips), longest: plain(residual.longest_operators) })}{' '}
        {skips > 0 && (residual.crossings === 0 ? t('alive.stack') : t('alive.no_stack', { count: plain(residual.crossings) }))}{' '}
        {residual.concat_held_int8_bytes > 0 && t('alive.held', { int8: quantity(residual.concat_held_int8_bytes, 'B'), fp16: quantity(residual.concat_held_fp16_bytes, 'B') })}
      </p>
    </>
  );
}

type LayerRow = ModelReport['layers'][number];

export function EqualLayers({ report }: { report: ModelReport }) {
  const { t } = useSpeech();
  const whole = report.tree.macs;
  const columns: Column<LayerRow>[] = [
    { id: 'type', title: t('report.type'), width: 120, value: (row) => row.type },
    { id: 'work', title: t('layers.work'), width: 260, value: (row) => row.work },
    { id: 'nodes', title: t('tree.nodes'), width: 80, numeric: true, value: (row) => row.nodes, show: (row) => plain(row.nodes) },
    { id: 'macs', title: t('layers.macs'), width: 120, numeric: true, value: (row) => row.macs, show: (row) => (row.macs > 0 ? quantity(row.macs, 'MAC', 4) : '–') },
    { id: 'elements', title: t('layers.elements'), width: 120, numeric: true, value: (row) => row.elements, show: (row) => (row.elements > 0 ? plain(row.elements) : '–') },
    { id: 'share', title: t('tree.share'), width: 110, numeric: true, value: (row) => row.macs * row.nodes, show: (row) => (row.macs > 0 && whole > 0 ? percent((row.macs * row.nodes) / whole, 3) : '–') },
    { id: 'first', title: t('layers.first'), width: 240, value: (row) => row.first, show: (row) => <span className="clip" title={row.first}>{row.first}</span> },
  ];
  return (
    <>
      <DataTable label={t('layers.label')} columns={columns} rows={report.layers} height={360} />
      {report.layer_classes > report.layers.length && <p className="muted">{t('tree.more', { count: plain(report.layer_classes - report.layers.length) })}</p>}
    </>
  );
}

export function LargestTensors({ report }: { report: ModelReport }) {
  const { t } = useSpeech();
  const rows = (kind: string, list: ModelReport['activations']): PlainRow[] =>
    list.map((one) => ({
      key: `${kind} ${one.name}`,
      cells: [<code key="name">{one.name}</code>, kind, one.type, `[${one.shape.join(', ')}]`, plain(one.elements), quantity(one.int8_bytes, 'B'), quantity(one.fp16_bytes, 'B')],
    }));
  return (
    <PlainTable
      label={t('report.tensors')} numericFrom={4} numericTo={7}
      heads={[t('report.name'), t('tensors.kind'), t('report.type'), t('report.shape'), t('layers.elements'), 'int8', 'fp16']}
      rows={[...rows(t('tensors.activation'), report.activations), ...rows(t('tensors.weight'), report.weights)]}
    />
  );
}
