// The start page: the sweeps, and the newest finished one opened, so that a newcomer sees a front at once.
import { Link } from 'wouter';
import { isLive, useSweep, useSweeps } from '../api/queries';
import type { Sweep } from '../api/types';
import { useSpeech } from '../i18n/i18n';
import { setQuery, useQueryState } from '../state/location';
import { WithFormulas } from '../sweep/formula_field';
import { Pareto } from '../sweep/pareto';
import { PointsTable } from '../sweep/points_table';
import { SweepHead } from '../sweep/progress';
import { SweepList } from '../sweep/sweep_list';
import { Empty, ErrorBox, Skeleton, Tabs } from '../ui/basics';
import { TablesGate } from '../ui/tables_gate';

export function ResultsPage({ id }: { id: number | null }) {
  const { t } = useSpeech();
  const sweeps = useSweeps();
  if (sweeps.isError) return <ErrorBox error={sweeps.error} retry={() => void sweeps.refetch()} />;
  if (sweeps.isPending) return <div className="with-side"><Skeleton lines={6} /><Skeleton height={480} /></div>;
  const newest = sweeps.data.find((one) => one.state === 'done' && one.feasible > 0) ?? sweeps.data.find((one) => one.state === 'done') ?? sweeps.data[0];
  const current = id ?? newest?.id ?? null;
  if (current === null) {
    return (
      <Empty title={t('results.empty')}>
        <p>{t('results.empty_hint')}</p>
        <Link href="/new" className="button primary">{t('nav.new')}</Link>
      </Empty>
    );
  }
  return (
    <div className="with-side">
      <aside aria-label={t('results.sweeps')}>
        <div className="side-head">
          <h2>{t('results.sweeps')}</h2>
          <Link href="/new" className="button primary small">{t('nav.new')}</Link>
        </div>
        {sweeps.data.filter((one) => one.feasible > 0).length > 1 && sweeps.data.some((one) => one.id === current && one.feasible > 0) && <p><Link href={`/fronts?sweeps=${current}`} className="button small">{t('fronts.together')}</Link></p>}
        <SweepList sweeps={sweeps.data} current={current} />
      </aside>
      <div className="page"><SweepView key={current} id={current} /></div>
    </div>
  );
}

/**
 * How many points the charts were last drawn with: while a sweep runs, not every poll redraws them. When its front has
 * been measured they are drawn once more.
 */
function versionOf(sweep: Sweep): number {
  if (!isLive(sweep)) return sweep.done + (sweep.done > 0 && !sweep.measuring_accuracy ? 0.5 : 0);
  const grain = Math.max(1, Math.floor(sweep.total / 12));
  return Math.floor(sweep.done / grain) * grain;
}

function SweepView({ id }: { id: number }) {
  const { t } = useSpeech();
  const sweep = useSweep(id);
  const [view] = useQueryState('view', 'front');
  if (sweep.isError) return <ErrorBox error={sweep.error} retry={() => void sweep.refetch()} />;
  if (sweep.isPending) return <Skeleton height={480} />;
  const version = versionOf(sweep.data);
  return (
    <>
      <SweepHead sweep={sweep.data} />
      <Tabs
        label={t('results.views')} controls="sweep-view" value={view} onChange={(next) => setQuery({ view: next === 'front' ? null : next })}
        items={[{ id: 'front', label: t('results.front') }, { id: 'points', label: t('results.points') }]}
      />
      <div id="sweep-view" role="tabpanel" aria-labelledby={`sweep-view-tab-${view}`}>
        <TablesGate>
          <WithFormulas sweep={sweep.data}>
            {(formulas) => (view === 'points' ? <PointsTable sweep={sweep.data} formulas={formulas} version={version} /> : <Pareto sweep={sweep.data} formulas={formulas} version={version} />)}
          </WithFormulas>
        </TablesGate>
      </div>
    </>
  );
}
