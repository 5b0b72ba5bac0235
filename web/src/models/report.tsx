// The report on one network: what the file says, what it computes, what is alive at once, its modules.
import type { StageFacts } from '../api/types';
import { Bars, StackedBar } from '../chart/bars';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { LayerTree } from './layer_tree';
import { Alive, EqualLayers, LargestTensors, PlainTable } from './report_tables';

export function ModelReport({ stage }: { stage: StageFacts }) {
  const { t } = useSpeech();
  const { report } = stage;
  return (
    <>
      <Card title={t('report.file')}>
        <FileFacts stage={stage} />
        <Values stage={stage} />
      </Card>
      <div className="two-charts">
        <Card title={t('report.work')}><Work stage={stage} /></Card>
        <Card title={t('report.read')}><Reading stage={stage} /></Card>
      </div>
      <Card title={t('report.modules')}>
        <LayerTree key={stage.name} tree={report.tree} label={t('report.modules_of', { name: stage.name })} />
      </Card>
      <Card title={t('report.alive')}><Alive report={report} /></Card>
      <Card title={t('report.layers', { count: plain(report.layer_classes) })}><EqualLayers report={report} /></Card>
      <Card title={t('report.tensors')}><LargestTensors report={report} /></Card>
    </>
  );
}

function FileFacts({ stage }: { stage: StageFacts }) {
  const { t } = useSpeech();
  const { report } = stage;
  const facts: [string, string][] = [
    [t('report.opset'), stage.opsets.map((one) => `${one.domain} ${one.version}`).join(', ')],
    ['IR', stage.ir_version === 0 ? t('report.not_said') : String(stage.ir_version)],
    [t('report.producer'), stage.producer || t('report.not_said')],
    [t('report.role'), wordFor(t, 'part', stage.role)],
    [t('report.parameters'), plain(stage.parameters)],
    ...report.parameters.map((one): [string, string] => [one.type, `${quantity(one.bytes, 'B')} · ${t('report.in_tensors', { count: plain(one.tensors) })}`]),
    [t('report.nodes_file'), plain(report.nodes.file)],
    [t('report.nodes_imported'), plain(report.nodes.imported)],
    [t('report.nodes_rewritten'), plain(report.nodes.rewritten)],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

function Values({ stage }: { stage: StageFacts }) {
  const { t } = useSpeech();
  const row = (side: string, one: StageFacts['inputs'][number]) => ({
    key: `${side} ${one.name}`,
    cells: [side, <code key="name">{one.name}</code>, one.type, `[${one.shape.join(', ')}]`, `[${one.dims.join(', ')}]`],
  });
  return (
    <PlainTable
      label={t('report.values')}
      heads={[t('report.side'), t('report.name'), t('report.type'), t('report.shape'), t('report.declared')]}
      rows={[...stage.inputs.map((one) => row(t('report.input'), one)), ...stage.outputs.map((one) => row(t('report.output'), one))]}
    />
  );
}

function Work({ stage }: { stage: StageFacts }) {
  const { t } = useSpeech();
  const bars = [
    { name: 'compute', label: 'conv2d', value: stage.macs.conv },
    { name: 'dsram_read', label: 'linear', value: stage.macs.linear },
    { name: 'weight_stream', label: 'matmul', value: stage.macs.matmul },
  ];
  const total = bars.reduce((sum, bar) => sum + bar.value, 0);
  const elements = stage.report.families.filter((one) => one.elements > 0);
  return (
    <>
      <p>{quantity(total, 'MAC')}</p>
      <StackedBar bars={bars} unit="MAC" label={bars.map((bar) => `${bar.label} ${total > 0 ? percent(bar.value / total) : '–'}`).join(', ')} />
      <Bars bars={bars} unit="MAC" coloured />
      <h3>{t('report.elements')}</h3>
      <Bars bars={elements.map((one) => ({ name: one.family, label: wordFor(t, 'part', one.family), value: one.elements }))} unit="" />
    </>
  );
}

function Reading({ stage }: { stage: StageFacts }) {
  const { t } = useSpeech();
  const { nodes, decomposed } = stage.report;
  const done: [string, number][] = [
    [t('report.folded'), nodes.folded], [t('report.functions'), nodes.functions], [t('report.branches'), nodes.branches],
    [t('report.loops'), nodes.loop_iterations], [t('report.composites'), nodes.composites], [t('report.constant'), nodes.constant],
  ];
  return (
    <>
      <Counts title={t('report.operators')} items={stage.operators.map((one) => [one.type, one.count])} />
      <Counts title={t('report.imported')} items={done} />
      <Counts title={t('report.recognised')} items={stage.rewrites.map((one) => [one.pattern, one.count])} />
      <Counts title={t('report.decomposed')} items={decomposed.map((one) => [one.pattern, one.count])} />
    </>
  );
}

function Counts({ title, items }: { title: string; items: [string, number][] }) {
  const { t } = useSpeech();
  const shown = items.filter(([, count]) => count > 0);
  return (
    <div className="counts">
      <h3>{title}</h3>
      {shown.length === 0 ? <p className="muted">{t('report.nothing')}</p> : (
        <ul>{shown.map(([name, count]) => <li key={name}><span>{name}</span> <strong>{plain(count)}</strong></li>)}</ul>
      )}
    </div>
  );
}
