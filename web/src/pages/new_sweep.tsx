// A new sweep: model, machine, axes, objectives; how many points it takes before it starts.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { answer, client } from '../api/client';
import type { Machine } from '../api/types';
import { axisOf, draftFor, sweepRequest, type AxisDraft, type SweepDraft } from '../form/axes';
import { AxisEditor } from '../form/axis_editor';
import { MachineForm } from '../form/machine_form';
import { PresetPicker } from '../form/preset_picker';
import { SweepStart } from '../form/sweep_start';
import { defaultPreset } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { isMix } from '../models/mix';
import { MixPicker } from '../models/mix_picker';
import { Card } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const NewSweepPage = () => (
  <TablesGate>
    <NewSweep />
  </TablesGate>
);

function NewSweep() {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<SweepDraft>(() => firstDraft(tables.machineOf(defaultPreset), tables.parameters.map((one) => one.name)));
  const [faults, setFaults] = useState<string[]>([]);
  const change = (part: Partial<SweepDraft>) => setDraft((before) => ({ ...before, ...part }));
  const preset = tables.machineOf(draft.preset);
  const swept = useMemo(() => new Set(draft.axes.map((axis) => axis.parameter)), [draft.axes]);

  const results = draft.axes.map((axis) => {
    const parameter = tables.parameter(axis.parameter);
    return parameter ? axisOf(axis, parameter) : { fault: { key: 'fault.choice' as const, values: { value: axis.parameter } } };
  });
  const axes = results.flatMap((one) => ('axis' in one ? [one.axis] : []));
  const grid = results.reduce((product, one) => product * ('count' in one ? one.count : 1), 1);
  const start = useMutation({
    mutationFn: () => answer(client.POST('/api/v1/sweeps', { body: sweepRequest(draft, axes) })),
    onSuccess: async (sweep) => {
      await queries.invalidateQueries({ queryKey: ['sweeps'] });
      navigate(`/sweeps/${sweep.id}`);
    },
  });
  const toggleAxis = (name: string) => {
    const parameter = tables.parameter(name);
    if (!parameter) return;
    const present = draft.machine[name] ?? preset[name] ?? parameter.default;
    change({ axes: swept.has(name) ? draft.axes.filter((axis) => axis.parameter !== name) : [...draft.axes, draftFor(parameter, present)] });
  };
  const setAxis = (at: number, axis: AxisDraft) => change({ axes: draft.axes.map((one, k) => (k === at ? axis : one)) });
  return (
    <div className="page">
      <h1>{t('new.title')}</h1>
      <p className="lead">{t('new.lead')}</p>
      <div className="two-columns">
        <div className="column">
          <Card title={t('new.model')}><MixPicker value={draft.model} onChange={(model) => change({ model })} /></Card>
          <Card title={t('new.machine')}>
            <PresetPicker value={draft.preset} onChange={(name) => change({ preset: name })} />
            <MachineForm
              parameters={tables.parameters} preset={preset} settings={draft.machine} onChange={(machine) => change({ machine })} onFaults={setFaults} swept={swept}
              axisFor={(parameter) => (
                <button type="button" className="axis-toggle" aria-pressed={swept.has(parameter.name)} onClick={() => toggleAxis(parameter.name)}>
                  {swept.has(parameter.name) ? t('axis.on') : t('axis.off')}<span className="visually-hidden"> {parameter.name}</span>
                </button>
              )}
            />
          </Card>
        </div>
        <div className="column sticky">
          <Card title={t('new.axes', { count: draft.axes.length })}>
            {draft.axes.length === 0 && <p className="muted">{t('new.no_axes')}</p>}
            <ul className="axes-list">
              {draft.axes.map((axis, k) => {
                const parameter = tables.parameter(axis.parameter);
                return parameter && <AxisEditor key={axis.parameter} draft={axis} parameter={parameter} onChange={(next) => setAxis(k, next)} onRemove={() => toggleAxis(axis.parameter)} />;
              })}
            </ul>
          </Card>
          <SweepStart draft={draft} change={change} grid={grid} ready={axes.length === draft.axes.length && axes.length > 0 && faults.length === 0 && isMix(draft.model)} pending={start.isPending} error={start.error} onStart={() => start.mutate()} />
        </div>
      </div>
    </div>
  );
}

function firstDraft(machine: Machine, names: string[]): SweepDraft {
  const axis = (parameter: string, values: string): AxisDraft[] =>
    names.includes(parameter) && parameter in machine ? [{ parameter, kind: 'values', values, min: '1', max: '20', by: '2' }] : [];
  return {
    name: '', model: 'sd15', preset: defaultPreset, machine: {}, sampling: 'grid', seed: 1, count: 1000,
    axes: [...axis('cores', '1, 2, 4, 5, 10, 20'), ...axis('psram_bytes', '2 MiB, 4 MiB, 8 MiB, 16 MiB, 32 MiB')],
    objectives: ['throughput_fps', 'area_mm2'],
    formulas: '',
    links: '',
    formats: '',
  };
}
