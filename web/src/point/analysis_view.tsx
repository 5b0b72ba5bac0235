// Everything known of one design point: tiles, machine, breakdowns, stages, comparison.
import { useAnalysis, type Design } from '../api/queries';
import type { Analysis } from '../api/types';
import { settingsOf } from '../form/values';
import { useSpeech, wordFor } from '../i18n/i18n';
import { setQuery, useQueryState } from '../state/location';
import { Card, ErrorBox, Skeleton, Tabs } from '../ui/basics';
import { Outdated } from '../ui/outdated';
import { AllMetrics } from './all_metrics';
import { Breakdowns } from './breakdowns';
import { ComparisonTable } from './comparison';
import { LoadTable } from './load_table';
import { MachineTable } from './machine_table';
import { StageView } from './stage_view';
import { Tiles } from './tiles';

/** `kept`: an analysis that is shown in place of one of today. */
export function AnalysisView({ design, kept }: { design: Design; kept?: Analysis | undefined }) {
  const { t } = useSpeech();
  const analysis = useAnalysis(kept ? null : design, true);
  const [view] = useQueryState('tab', 'overview');
  if (analysis.isError) return <ErrorBox error={analysis.error} retry={() => void analysis.refetch()} />;
  const shown = kept ?? analysis.data;
  if (!shown) return <><Skeleton height={150} /><Skeleton height={380} /></>;
  const { stages } = shown;
  const labelOf = (role: string, name: string) =>
    stages.filter((one) => one.role === role).length > 1 ? name : wordFor(t, 'part', role);
  const items = [
    { id: 'overview', label: t('point.overview') },
    ...stages.map((one, index) => ({ id: tabOf(stages, index), label: labelOf(one.role, one.name) })),
    { id: 'compare', label: t('nav.compare') },
  ];
  const current = items.some((item) => item.id === view) ? view : 'overview';
  const stage = stages.find((_, index) => tabOf(stages, index) === current);
  return (
    <Outdated when={!kept && analysis.isPlaceholderData}>
      {!shown.feasible && <Infeasible reason={shown.reason} />}
      <Tiles metrics={shown.metrics} />
      <Tabs label={t('point.views')} controls="point-view" items={items} value={current} onChange={(tab) => setQuery({ tab: tab === 'overview' ? null : tab })} />
      <div id="point-view" role="tabpanel" aria-labelledby={`point-view-tab-${current}`}>
        {current === 'overview' && <Overview analysis={shown} design={design} />}
        {stage && <StageView key={stage.name} stage={stage} design={design} frameEnergy={shown.metrics.energy_j_per_frame ?? 0} />}
        {current === 'compare' && <ComparisonTable design={design} />}
      </div>
    </Outdated>
  );
}

/** The later ones of several stages in one part (two text encoders, parts in series) are numbered. */
function tabOf(stages: Analysis['stages'], index: number): string {
  const role = stages[index]?.role ?? '';
  const before = stages.slice(0, index).filter((one) => one.role === role).length;
  return before === 0 ? `stage-${role}` : `stage-${role}-${before + 1}`;
}

export function Infeasible({ reason }: { reason: string }) {
  const { t } = useSpeech();
  return (
    <div className="warn-box" role="status">
      <strong>{t('point.infeasible')}</strong>
      <p lang="en">{reason}</p>
    </div>
  );
}

function Overview({ analysis, design }: { analysis: Analysis; design: Design }) {
  const { t } = useSpeech();
  return (
    <>
      {analysis.feasible && <Breakdowns analysis={analysis} />}
      <Card title={t('point.machine')}><MachineTable machine={settingsOf(analysis.machine)} preset={design.preset} /></Card>
      <AllMetrics metrics={analysis.metrics} />
      {analysis.feasible && <LoadTable load={analysis.load} />}
      {analysis.notes.length > 0 && (
        <Card title={t('point.notes')}>
          <ul className="notes" lang="en">{analysis.notes.map((note) => <li key={note}>{note}</li>)}</ul>
        </Card>
      )}
    </>
  );
}
