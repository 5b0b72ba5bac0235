// The layers of a stage that were executed, with how far each was from its graph and how far it may be.
import { useMemo } from 'react';
import type { LayerTensors, StageTensors } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { VerdictBadge, type Verdict } from './verdict';

const verdict = (layer: LayerTensors): Verdict =>
  layer.left_out !== '' ? 'not_compared' : layer.failure !== '' || (layer.differing > 0 && !layer.overflows) ? 'differs' : 'pass';

export function TensorsTable({ tensors }: { tensors: StageTensors }) {
  const { t } = useSpeech();
  const columns = useMemo<Column<LayerTensors>[]>(() => [
    { id: 'index', title: '#', width: 56, numeric: true, value: (one) => one.index },
    { id: 'name', title: t('table.name'), width: 230, value: (one) => one.name, show: (one) => <span className="clip" title={one.name}>{one.name}</span> },
    { id: 'op', title: t('table.op'), width: 120, value: (one) => one.op, show: (one) => <code>{one.op}</code> },
    { id: 'verdict', title: t('validation.verdict'), width: 96, value: verdict, show: (one) => <VerdictBadge verdict={verdict(one)} /> },
    { id: 'operations', title: t('validation.operations'), width: 110, numeric: true, value: (one) => one.operations, show: (one) => plain(one.operations) },
    { id: 'elements', title: t('validation.elements'), width: 100, numeric: true, value: (one) => one.elements, show: (one) => plain(one.elements) },
    { id: 'differing', title: t('validation.differing'), width: 96, numeric: true, value: (one) => one.differing, show: (one) => <span className={one.differing > 0 ? 'differs' : ''}>{plain(one.differing)}</span> },
    { id: 'unsettled', title: t('validation.unsettled'), width: 96, numeric: true, value: (one) => one.unsettled, show: (one) => plain(one.unsettled) },
    { id: 'error', title: t('validation.largest_error'), width: 116, numeric: true, value: (one) => one.largest_error, show: (one) => plain(one.largest_error, 3) },
    { id: 'allowed', title: t('validation.allowed'), width: 108, numeric: true, value: (one) => one.allowed, show: (one) => plain(one.allowed, 3) },
    { id: 'note', title: t('validation.note'), width: 220, value: (one) => one.left_out + one.failure, show: (one) => <Note layer={one} /> },
  ], [t]);
  const title = t('validation.tensors_of', { stage: tensors.stage, compared: tensors.compared, classes: tensors.classes });
  return (
    <Card title={title}>
      <p className="muted">{t('validation.tensors_lead')}</p>
      <DataTable label={title} columns={columns} rows={tensors.layers} marked={(one) => verdict(one) === 'differs'} height={360} />
    </Card>
  );
}

function Note({ layer }: { layer: LayerTensors }) {
  const { t } = useSpeech();
  const english = layer.left_out + layer.failure;
  if (english !== '') return <span className="clip" lang="en" title={english}>{english}</span>;
  if (!layer.first) return null;
  const where = t('validation.element', { element: layer.first.element, executed: layer.first.executed ?? 'NaN', expected: layer.first.expected ?? 'NaN' });
  const text = layer.overflows ? `${t('validation.overflows')} ${where}` : where;
  return <span className="clip" title={text}>{text}</span>;
}
