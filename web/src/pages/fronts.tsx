// The front of several sweeps together: which sweeps, how much of it is each one's, and its points.
import { useCallback, useMemo } from 'react';
import { Link } from 'wouter';
import { useJointFront, useSweeps } from '../api/queries';
import type { JointFront, JointFrontPoint, Sweep } from '../api/types';
import { goalOf } from '../best/draft';
import { StepList } from '../best/steps';
import { FrontChart } from '../chart/front_chart';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { go, setQuery, useQueryState } from '../state/location';
import { ColumnSelect } from '../sweep/column_select';
import { Card, Empty, ErrorBox, Skeleton } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

const mostSweeps = 64;

export function FrontsPage() {
  const { t } = useSpeech();
  const [said, say] = useQueryState('sweeps', '');
  const chosen = useMemo(() => said.split(',').map(Number).filter((id) => Number.isInteger(id) && id > 0), [said]);
  const sweeps = useSweeps();
  const its = (sweeps.data ?? []).filter((one) => chosen.includes(one.id));
  // Sweeps that look for different things are compared by what the first looks for, where nobody says otherwise.
  const [metrics] = useQueryState('metrics', '');
  const objectives = metrics !== '' ? metrics.split(',') : its[0] && its.some((one) => one.objectives.join() !== its[0]?.objectives.join()) ? its[0].objectives : [];
  const front = useJointFront(chosen, objectives, its.reduce((sum, one) => sum + one.done, 0));
  if (sweeps.isError) return <ErrorBox error={sweeps.error} retry={() => void sweeps.refetch()} />;
  if (sweeps.isPending) return <div className="with-side"><Skeleton lines={6} /><Skeleton height={480} /></div>;
  const possible = sweeps.data.filter((one) => one.feasible > 0 || chosen.includes(one.id));
  const gone = chosen.filter((id) => !sweeps.data.some((one) => one.id === id));
  const toggle = (id: number, on: boolean) => say((on ? [...chosen, id] : chosen.filter((one) => one !== id)).join(','));
  return (
    <div className="with-side">
      <aside aria-label={t('results.sweeps')}>
        <fieldset className="sweep-choice">
          <legend>{t('fronts.choose')}</legend>
          {possible.map((sweep) => (
            <Choice key={sweep.id} sweep={sweep} on={chosen.includes(sweep.id)} full={chosen.length >= mostSweeps} part={front.data?.sweeps.find((one) => one.id === sweep.id)} onToggle={(on) => toggle(sweep.id, on)} />
          ))}
          {gone.map((id) => (
            <label key={id} className="check">
              <input type="checkbox" checked onChange={() => toggle(id, false)} />
              <span>{t('sweep.number', { id })} <span className="muted">{t('fronts.gone')}</span></span>
            </label>
          ))}
        </fieldset>
      </aside>
      <div className="page">
        <h1>{t('fronts.title')}</h1>
        <p className="lead">{t('fronts.lead')}</p>
        {metrics === '' && objectives.length > 0 && <p className="muted" role="status">{t('fronts.objectives', { list: objectives.join(', ') })}</p>}
        {chosen.length === 0 ? <Empty title={possible.length === 0 ? t('results.empty') : t('fronts.none')} />
          : front.isError ? <ErrorBox error={front.error} retry={() => void front.refetch()} />
          : front.isPending ? <Skeleton height={480} />
          : <TablesGate><Together front={front.data} sweeps={sweeps.data} /></TablesGate>}
      </div>
    </div>
  );
}

const nameOfSweep = (t: ReturnType<typeof useSpeech>['t'], sweep: { id: number; name: string }) => sweep.name || t('sweep.number', { id: sweep.id });

interface ChoiceProps {
  sweep: Sweep;
  on: boolean;
  full: boolean;
  part: JointFront['sweeps'][number] | undefined;
  onToggle: (on: boolean) => void;
}

function Choice({ sweep, on, full, part, onToggle }: ChoiceProps) {
  const { t } = useSpeech();
  return (
    <label className="check">
      <input type="checkbox" checked={on} disabled={!on && full} onChange={(event) => onToggle(event.target.checked)} />
      <span>
        {nameOfSweep(t, sweep)} <span className="muted"><code>{sweep.model}</code></span>
        {on && part && <span className="muted"> · {t('fronts.part', { points: plain(part.points), own: plain(part.own) })}</span>}
      </span>
    </label>
  );
}

function Together({ front, sweeps }: { front: JointFront; sweeps: Sweep[] }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const { points } = front;
  const goals = useMemo(() => front.metrics.map((one) => goalOf(one, (metric) => tables.metric(metric)?.better)), [front.metrics, tables]);
  const names = useMemo(() => new Map(sweeps.map((one) => [one.id, nameOfSweep(t, one)])), [sweeps, t]);
  const text = (metric: string, one: JointFrontPoint | undefined) => quantity(one?.objectives[metric] ?? undefined, tables.unitOf(metric));
  const pathOf = (one: JointFrontPoint | undefined) => (one ? `/sweeps/${one.sweep}/points/${one.index}` : '/');
  const hrefOf = useCallback((i: number) => `#${pathOf(points[i])}`, [points]);
  const namesOf = useCallback((i: number) => [names.get(points[i]?.sweep ?? 0) ?? '', String(points[i]?.index ?? '')], [names, points]);
  const open = useCallback((i: number) => go(pathOf(points[i])), [points]);
  const columns = useMemo<Column<JointFrontPoint>[]>(() => [
    { id: 'sweep', title: t('fronts.sweep'), width: 170, value: (one) => names.get(one.sweep) ?? one.sweep },
    { id: 'index', title: t('table.point'), width: 80, numeric: true, value: (one) => one.index, show: (one) => <Link href={pathOf(one)}>{one.index}</Link> },
    ...goals.map(({ metric }): Column<JointFrontPoint> => ({ id: metric, title: metric, width: 130, numeric: true, value: (one) => one.objectives[metric], show: (one) => text(metric, one) })),
    { id: 'knee', title: t('front.knee_column'), width: 110, hint: t('front.knee_key'), value: (one) => one.knee, show: (one) => (one.knee === 'none' ? '' : t(`knee.${one.knee}`)) },
    { id: 'differs', title: t('best.differs_before'), width: 420, sortable: false, value: (one) => one.differs.length, show: (one) => <span className="clip"><StepList steps={one.differs} /></span> },
  ], [goals, names, t, tables]);
  const title = t('front.title', { count: points.length });
  const note = front.note !== null && <div className="warn-box" role="status" lang="en">{front.note}</div>;
  if (points.length === 0) return <>{note}<ChosenMetrics metrics={front.metrics} /><Empty title={t('fronts.no_point')} /></>;
  return (
    <Card>
      {note}
      <ChosenMetrics metrics={front.metrics} />
      {goals.length > 1 && (
        <FrontChart
          title={title} note={t('fronts.note')} points={points} goals={goals} head={[t('fronts.sweep'), t('table.point')]} namesOf={namesOf}
          hint={t('pareto.hint')} hrefOf={hrefOf} onOpen={open}
        />
      )}
      <DataTable label={title} columns={columns} rows={points} onRow={(one) => go(pathOf(one))} height={360} />
    </Card>
  );
}

/** Chooses the two metrics of the front: the sweeps' objectives, of which there may be more, until somebody chooses. */
function ChosenMetrics({ metrics }: { metrics: string[] }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const [x, y] = [metrics[0] ?? '', metrics[1] ?? ''];
  // An objective that is a formula, or has a direction of its own, is no row of the table.
  const extra = (own: string) => (tables.metric(own) ? [] : [{ id: own, label: own }]);
  const choose = (next: string[]) => setQuery({ metrics: next.join(',') });
  return (
    <div className="chart-controls">
      <ColumnSelect label={t('chart.y')} value={y} axes={[]} directed extra={extra(y)} onChange={(name) => choose([x, name])} />
      <ColumnSelect label={t('chart.x')} value={x} axes={[]} directed extra={extra(x)} onChange={(name) => choose([name, y])} />
    </div>
  );
}
