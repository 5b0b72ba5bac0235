// Why points of a sweep are infeasible: the kinds of reasons, how often each, and a point that has it.
import { Link } from 'wouter';
import { useInfeasible } from '../api/queries';
import type { Sweep } from '../api/types';
import { percent, plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { reasonKinds } from './reasons';

const mostKinds = 8;

/** Stands in place of a chart that would have nothing on it. */
export function NothingFeasible({ sweep, version, points }: { sweep: Sweep; version: number; points: number }) {
  const { t } = useSpeech();
  return (
    <Card>
      <div className="warn-box" role="status">
        <strong>{t(points < sweep.total ? 'infeasible.none_yet' : 'infeasible.none', { count: plain(points) })}</strong>
        <p>{t('infeasible.none_hint')}</p>
      </div>
      <Reasons sweep={sweep} version={version} />
    </Card>
  );
}

export function Reasons({ sweep, version }: { sweep: Sweep; version: number }) {
  const { t } = useSpeech();
  const points = useInfeasible(sweep.id, version);
  if (points.isError) return <ErrorBox error={points.error} retry={() => void points.refetch()} />;
  if (points.isPending) return <Skeleton lines={3} />;
  const { rows, total } = points.data;
  const kinds = reasonKinds(rows);
  return (
    <div className="reasons">
      <h2>{t('infeasible.reasons', { count: kinds.length })}</h2>
      {rows.length < total && <p className="muted">{t('infeasible.sampled', { count: plain(rows.length), total: plain(total) })}</p>}
      <ol className="reason-list">
        {kinds.slice(0, mostKinds).map((kind) => (
          <li key={kind.index}>
            <strong>{t('infeasible.points', { count: plain(kind.count), share: percent(kind.count / rows.length, 3) })}</strong>
            <span lang="en">{kind.example}</span>
            <Link href={`/sweeps/${sweep.id}/points/${kind.index}`}>{t('infeasible.first', { index: kind.index })}</Link>
          </li>
        ))}
      </ol>
      {kinds.length > mostKinds && <p className="muted">{t('infeasible.more', { count: plain(kinds.length - mostKinds) })}</p>}
    </div>
  );
}
