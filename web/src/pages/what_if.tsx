// The what-if page: change the machine and see its metrics move at once, against the preset.
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useAnalysis, type Design } from '../api/queries';
import type { ParameterValue } from '../api/types';
import { MachineForm } from '../form/machine_form';
import { PresetPicker } from '../form/preset_picker';
import { encodeSettings } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { ModelPicker } from '../models/model_picker';
import { ExplanationView } from '../explain/explanation_view';
import { Infeasible } from '../point/analysis_view';
import { Breakdowns } from '../point/breakdowns';
import { Tiles } from '../point/tiles';
import { useDesign } from '../state/design';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { Outdated } from '../ui/outdated';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const WhatIfPage = () => (
  <TablesGate>
    <WhatIf />
  </TablesGate>
);

const pauseMs = 180;

/** A value that follows another once that has stood still for a moment. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The design that the data shown are of: that of the last answer, while the next one is awaited. */
function useAnswered(asked: Design, data: unknown, awaited: boolean): Design {
  const last = useRef(asked);
  if (data !== undefined && !awaited) last.current = asked;
  return last.current;
}

function WhatIf() {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const [design, change] = useDesign();
  const settled = useSettled(design);
  const [faults, setFaults] = useState<string[]>([]);
  const analysis = useAnalysis(settled, false);
  const reference = useAnalysis({ ...settled, machine: {} }, false);
  // The page shows the answer to what is in the form, or marks it as outdated.
  const waiting = design !== settled;
  const outdated = waiting || analysis.isPlaceholderData || faults.length > 0;
  const why = faults.length > 0 ? 'outdated.fault' : 'outdated.machine';
  const answered = useAnswered(settled, analysis.data, analysis.isPlaceholderData);
  // One function for good, so that a change marks what is old without drawing it again.
  const now = useRef({ design, change });
  now.current = { design, change };
  const tryOne = useCallback((name: string, value: ParameterValue) => now.current.change({ machine: { ...now.current.design.machine, [name]: value } }), []);
  const query = new URLSearchParams({ model: design.model, preset: design.preset, set: encodeSettings(design.machine) }).toString();
  return (
    <div className="page">
      <div className="page-title">
        <h1>{t('what_if.title')}</h1>
        <div className="card-actions"><Link className="button" href={`/compare?${query}`}>{t('what_if.details')}</Link></div>
      </div>
      <p className="lead">{t('what_if.lead')}</p>
      <div className="two-columns what-if">
        <div className="column">
          <Card title={t('new.machine')}>
            <ModelPicker value={design.model} onChange={(model) => change({ model })} upload={false} />
            <PresetPicker value={design.preset} onChange={(preset) => change({ preset })} />
            <MachineForm parameters={tables.parameters} preset={tables.machineOf(design.preset)} settings={design.machine} onChange={(machine) => change({ machine })} onFaults={setFaults} />
          </Card>
        </div>
        <div className="column sticky">
          <Outdated when={outdated} why={why}>
            {analysis.isError ? <ErrorBox error={analysis.error} />
              : !analysis.data ? <Skeleton height={360} />
              : <Live analysis={analysis.data} reference={analysis.isPlaceholderData || reference.isPlaceholderData ? undefined : reference.data} design={answered} />}
          </Outdated>
        </div>
      </div>
      <ExplanationView design={settled} outdated={waiting || faults.length > 0} why={why} onChange={tryOne} />
    </div>
  );
}

type Answer = NonNullable<ReturnType<typeof useAnalysis>['data']>;

const Live = memo(function Live({ analysis, reference, design }: { analysis: Answer; reference: Answer | undefined; design: Design }) {
  const { t } = useSpeech();
  const changes = Object.keys(design.machine).length;
  return (
    <>
      {!analysis.feasible && <Infeasible reason={analysis.reason} />}
      <p className="muted" role="status">{changes === 0 ? t('what_if.same', { preset: design.preset }) : t('what_if.changes', { count: changes, preset: design.preset })}</p>
      <Tiles metrics={analysis.metrics} before={changes > 0 ? reference?.metrics : undefined} />
      <Breakdowns analysis={analysis} />
    </>
  );
});
