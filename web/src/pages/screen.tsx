// The screening page: which rows of a machine do most to a measure over their whole ranges, by effects or shares of
// variance.
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { startScreening } from '../api/queries';
import { axisOf, draftFor, type AxisDraft } from '../form/axes';
import { AxisEditor } from '../form/axis_editor';
import { LinksField } from '../form/links_field';
import { MachineForm } from '../form/machine_form';
import { PresetPicker } from '../form/preset_picker';
import { defaultPreset } from '../form/values';
import { plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { isMix } from '../models/mix';
import { MixPicker } from '../models/mix_picker';
import { machinesOf, mostMachines, screeningRequest, type ScreenDraft, type ScreeningMethod } from '../screen/draft';
import { ScreeningResult } from '../screen/result';
import { Card, ErrorBox, Segments, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const ScreenPage = () => (
  <TablesGate>
    <Screen />
  </TablesGate>
);

const firstDraft: ScreenDraft = {
  model: 'sd15', preset: defaultPreset, machine: {}, axes: [], links: '', measures: ['throughput_fps', 'area_mm2'], method: 'morris',
  samples: { morris: 10, sobol: 64 }, seed: 1,
};

function Screen() {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const [draft, setDraft] = useState(firstDraft);
  const [faults, setFaults] = useState<string[]>([]);
  const change = (part: Partial<ScreenDraft>) => setDraft((before) => ({ ...before, ...part }));
  const preset = tables.machineOf(draft.preset);
  const varied = useMemo(() => new Set(draft.axes.map((axis) => axis.parameter)), [draft.axes]);
  const axes = draft.axes.flatMap((axis) => {
    const parameter = tables.parameter(axis.parameter);
    const result = parameter ? axisOf(axis, parameter) : null;
    return result && 'axis' in result ? [result.axis] : [];
  });
  const start = useMutation({ mutationFn: () => startScreening(screeningRequest(draft, axes)) });
  const toggle = (name: string) => {
    const parameter = tables.parameter(name);
    if (!parameter) return;
    const present = draft.machine[name] ?? preset[name] ?? parameter.default;
    change({ axes: varied.has(name) ? draft.axes.filter((axis) => axis.parameter !== name) : [...draft.axes, draftFor(parameter, present)] });
  };
  const setAxis = (at: number, axis: AxisDraft) => change({ axes: draft.axes.map((one, k) => (k === at ? axis : one)) });
  const sound = faults.length === 0 && axes.length === draft.axes.length && isMix(draft.model);
  return (
    <div className="page">
      <h1>{t('screen.title')}</h1>
      <p className="lead">{t('screen.lead')}</p>
      <div className="two-columns">
        <div className="column">
          <Card title={t('new.model')}><MixPicker value={draft.model} onChange={(model) => change({ model })} /></Card>
          <Card title={t('new.axes', { count: draft.axes.length })}>
            {draft.axes.length === 0 && <p className="muted">{t('screen.usual_axes')}</p>}
            <ul className="axes-list">
              {draft.axes.map((axis, k) => {
                const parameter = tables.parameter(axis.parameter);
                return parameter && <AxisEditor key={axis.parameter} draft={axis} parameter={parameter} onChange={(next) => setAxis(k, next)} onRemove={() => toggle(axis.parameter)} />;
              })}
            </ul>
          </Card>
          <Card title={t('new.machine')}>
            <PresetPicker value={draft.preset} onChange={(name) => change({ preset: name })} />
            <MachineForm
              parameters={tables.parameters} preset={preset} settings={draft.machine} onChange={(machine) => change({ machine })} onFaults={setFaults} swept={varied} open={[]}
              axisFor={(parameter) => (
                <button type="button" className="axis-toggle" aria-pressed={varied.has(parameter.name)} onClick={() => toggle(parameter.name)}>
                  {varied.has(parameter.name) ? t('axis.on') : t('axis.off')}<span className="visually-hidden"> {parameter.name}</span>
                </button>
              )}
            />
          </Card>
        </div>
        <div className="column">
          <HowCard draft={draft} change={change} rows={draft.axes.length} sound={sound} pending={start.isPending} onStart={() => start.mutate()} />
          {start.error && <ErrorBox error={start.error} />}
          {start.isPending && <Skeleton height={320} />}
          {start.data && !start.isPending && <ScreeningResult screening={start.data} />}
        </div>
      </div>
    </div>
  );
}

interface HowProps {
  draft: ScreenDraft;
  change: (part: Partial<ScreenDraft>) => void;
  rows: number;
  sound: boolean;
  pending: boolean;
  onStart: () => void;
}

function HowCard({ draft, change, rows, sound, pending, onStart }: HowProps) {
  const { t } = useSpeech();
  const samples = draft.samples[draft.method];
  const machines = machinesOf(draft.method, samples, rows);
  const fits = Number.isInteger(samples) && samples >= 2 && Number.isInteger(draft.seed) && draft.seed >= 0 && (rows === 0 || machines <= mostMachines);
  return (
    <Card title={t('screen.how')}>
      <Measures chosen={draft.measures} onChange={(measures) => change({ measures })} />
      <div className="row">
        <Segments
          label={t('screen.method')} value={draft.method} onChange={(id) => change({ method: id as ScreeningMethod })}
          items={[{ id: 'morris', label: t('screen.morris') }, { id: 'sobol', label: t('screen.sobol') }]}
        />
        <label className="inline">
          <span>{t(draft.method === 'morris' ? 'screen.trajectories' : 'screen.samples')}</span>
          <input type="number" min={2} max={mostMachines} value={samples} onChange={(event) => change({ samples: { ...draft.samples, [draft.method]: event.target.valueAsNumber } })} />
        </label>
        <label className="inline">
          <span>{t('new.seed')}</span>
          <input type="number" min={0} value={draft.seed} onChange={(event) => change({ seed: event.target.valueAsNumber })} />
        </label>
      </div>
      <LinksField value={draft.links} onChange={(links) => change({ links })} />
      <p className="muted">{t(draft.method === 'morris' ? 'screen.morris_about' : 'screen.sobol_about')}</p>
      <div className="start-row">
        {/* Without axes of one's own the server knows how many rows there are. */}
        <p className="big-count" aria-live="polite">{rows > 0 && <><strong>{Number.isFinite(machines) ? plain(machines) : '–'}</strong> {t('best.machines')}</>}</p>
        <button type="button" className="primary large" disabled={!sound || !fits || draft.measures.length === 0 || pending} onClick={onStart} data-action="start-screening">{pending ? t('screen.running') : t('screen.start')}</button>
      </div>
    </Card>
  );
}

const mostMeasures = 6;

function Measures({ chosen, onChange }: { chosen: string[]; onChange: (names: string[]) => void }) {
  const { t } = useSpeech();
  const { metrics } = useMachineTables();
  return (
    <div className="row measures" role="group" aria-label={t('screen.measures')}>
      {chosen.map((name) => (
        <button key={name} type="button" className="chip" title={t('screen.remove', { name })} onClick={() => onChange(chosen.filter((one) => one !== name))}>{name} <span aria-hidden="true">×</span></button>
      ))}
      {chosen.length < mostMeasures && (
        <select value="" aria-label={t('screen.add')} onChange={(event) => onChange([...chosen, event.target.value])}>
          <option value="">{t('screen.add')}</option>
          {metrics.filter((one) => !chosen.includes(one.name)).map((one) => <option key={one.name}>{one.name}</option>)}
        </select>
      )}
    </div>
  );
}
