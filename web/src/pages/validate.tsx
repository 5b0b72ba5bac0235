// Validate: choose a model and a machine, let estimate and executor run beside each other; earlier ones are listed.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { startValidation, useValidations } from '../api/queries';
import type { ValidationItem } from '../api/types';
import { MachineForm } from '../form/machine_form';
import { PresetPicker } from '../form/preset_picker';
import { useSpeech, wordFor } from '../i18n/i18n';
import { ModelPicker } from '../models/model_picker';
import { useDesign } from '../state/design';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';
import { VerdictBadge, verdictIn } from '../validation/verdict';

export const ValidatePage = () => (
  <TablesGate>
    <Validate />
  </TablesGate>
);

const mostSeconds = 3600;

function Validate() {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [design, change] = useDesign();
  const [layers, setLayers] = useState('');
  const [tensors, setTensors] = useState(true);
  const [seconds, setSeconds] = useState(60);
  const [faults, setFaults] = useState<string[]>([]);
  const start = useMutation({
    mutationFn: () => startValidation(design, { layers: layers.split('\n').map((one) => one.trim()).filter((one) => one !== ''), tensors, seconds }),
    onSuccess: async (validation) => {
      await queries.invalidateQueries({ queryKey: ['validations'] });
      navigate(`/validations/${validation.id}`);
    },
  });
  const ready = faults.length === 0 && Number.isInteger(seconds) && seconds >= 1 && seconds <= mostSeconds;
  return (
    <div className="page">
      <h1>{t('validate.title')}</h1>
      <p className="lead">{t('validate.lead')}</p>
      <div className="two-columns">
        <div className="column">
          <Card title={t('new.model')}><ModelPicker value={design.model} onChange={(model) => change({ model })} /></Card>
          <Card title={t('new.machine')}>
            <PresetPicker value={design.preset} onChange={(preset) => change({ preset })} />
            <MachineForm parameters={tables.parameters} preset={tables.machineOf(design.preset)} settings={design.machine} onChange={(machine) => change({ machine })} onFaults={setFaults} />
          </Card>
        </div>
        <div className="column sticky">
          <Card title={t('validate.run')}>
            <label className="stack">
              <span className="label">{t('validate.layers')}</span>
              <textarea rows={2} value={layers} placeholder={t('validate.layers_hint')} onChange={(event) => setLayers(event.target.value)} spellCheck={false} />
            </label>
            <div className="row">
              <label className="check"><input type="checkbox" checked={tensors} onChange={(event) => setTensors(event.target.checked)} /><span>{t('validate.tensors')}</span></label>
              <label className="inline"><span>{t('validate.seconds')}</span><input type="number" min={1} max={mostSeconds} step={1} value={seconds} onChange={(event) => setSeconds(event.target.valueAsNumber)} /></label>
            </div>
            {start.isError && <ErrorBox error={start.error} />}
            <div className="start-row">
              <p className="muted">{t('validate.run_note')}</p>
              <button type="button" className="primary large" disabled={!ready || start.isPending} onClick={() => start.mutate()} data-action="start-validation">{t('validate.start')}</button>
            </div>
          </Card>
          <Earlier />
        </div>
      </div>
    </div>
  );
}

function Earlier() {
  const { t } = useSpeech();
  const list = useValidations();
  if (list.isError) return <ErrorBox error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton lines={3} />;
  return (
    <Card title={t('validate.earlier', { count: list.data.length })}>
      {list.data.length === 0 && <p className="muted">{t('validate.none')}</p>}
      <ul className="validation-list">{list.data.slice(0, 50).map((one) => <li key={one.id}><EarlierOne item={one} /></li>)}</ul>
    </Card>
  );
}

function EarlierOne({ item }: { item: ValidationItem }) {
  const { t, language } = useSpeech();
  const when = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (
    <Link href={`/validations/${item.id}`}>
      <span>{t('validation.number', { id: item.id })} · <code>{item.model}</code></span>
      {item.summary ? <VerdictBadge verdict={verdictIn(item.summary)} />
        : <span className={`state state-${item.state}`}>{wordFor(t, 'state', item.state)}</span>}
      <span className="muted">{when.format(new Date(item.created))}</span>
    </Link>
  );
}
