// How the front of a sweep was validated: what was covered of it, and each of its points.
import { useMemo } from 'react';
import { Link } from 'wouter';
import { useFrontValidation, useSweep } from '../api/queries';
import type { FrontPoint } from '../api/types';
import { duration, percent, plain } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { FirstDifferenceBox, VerdictBadge } from '../validation/verdict';

/** Nobody knows how much there is of a point beyond the time whose program was not compiled, either. */
const of = (part: number, all: number) => (all > 0 ? `${plain(part)} / ${plain(all)}` : '–');

export function FrontValidationPage({ id }: { id: number }) {
  const { t } = useSpeech();
  const sweep = useSweep(id);
  const front = useFrontValidation(id);
  const columns = useMemo<Column<FrontPoint>[]>(() => [
    { id: 'index', title: t('table.point'), width: 80, numeric: true, value: (one) => one.index, show: (one) => <Link href={`/sweeps/${id}/points/${one.index}`}>{one.index}</Link> },
    { id: 'verdict', title: t('validation.verdict'), width: 110, value: (one) => one.verdict, show: (one) => <VerdictBadge verdict={one.verdict} /> },
    { id: 'instructions', title: t('validation.instructions'), width: 130, numeric: true, value: (one) => one.coverage.instructions_compared, show: (one) => of(one.coverage.instructions_compared, one.coverage.instructions) },
    { id: 'classes', title: t('validation.classes'), width: 130, numeric: true, value: (one) => one.coverage.classes_compared, show: (one) => of(one.coverage.classes_compared, one.coverage.classes) },
    { id: 'executed', title: t('validation.executed_classes'), width: 130, numeric: true, value: (one) => one.coverage.classes_executed, show: (one) => of(one.coverage.classes_executed, one.coverage.classes) },
    { id: 'values', title: t('validation.values'), width: 110, numeric: true, value: (one) => one.coverage.values, show: (one) => plain(one.coverage.values) },
    { id: 'differences', title: t('validation.differences'), width: 110, numeric: true, value: (one) => one.coverage.differences, show: (one) => <span className={one.coverage.differences > 0 ? 'differs' : ''}>{plain(one.coverage.differences)}</span> },
    { id: 'overflows', title: t('validation.overflow_layers'), width: 110, numeric: true, value: (one) => one.coverage.overflows },
  ], [t, id]);
  const error = sweep.error ?? front.error;
  if (error) return <ErrorBox error={error} retry={() => { void sweep.refetch(); void front.refetch(); }} />;
  if (!sweep.data || !front.data) return <Skeleton height={420} />;
  const { summary, points, state } = front.data;
  const title = t('front.title', { count: points.length });
  const share = (part: number, all: number) => `${plain(part)} / ${plain(all)}${all > 0 ? ` (${percent(part / all, 3)})` : ''}`;
  return (
    <div className="page">
      <nav className="crumbs" aria-label={t('point.crumbs')}>
        <Link href="/">{t('nav.results')}</Link> <span aria-hidden="true">/</span>{' '}
        <Link href={`/sweeps/${id}`}>{sweep.data.name || t('sweep.number', { id })}</Link> <span aria-hidden="true">/</span>{' '}
        <span>{t('validation.front')}</span>
      </nav>
      <div className="page-title">
        <div className="row">
          <h1>{t('validation.front_title', { name: sweep.data.name || t('sweep.number', { id }) })}</h1>
          {summary ? <VerdictBadge verdict={summary.verdict} /> : <span className={`state state-${state}`}>{wordFor(t, 'state', state)}</span>}
        </div>
      </div>
      <p className="lead">{t('validation.front_lead')}</p>
      {summary?.first_difference && <FirstDifferenceBox first={summary.first_difference} />}
      {summary && (
        <Card title={t('validation.coverage')}>
          <dl className="facts">
            <div><dt>{t('validation.front_points')}</dt><dd>{share(summary.points_covered, summary.points)}</dd></div>
            <div><dt>{t('validation.programs')}</dt><dd>{plain(summary.programs)}</dd></div>
            <div><dt>{t('validation.executed_classes')}</dt><dd>{share(summary.classes_executed, summary.classes)}</dd></div>
            <div><dt>{t('validation.values')}</dt><dd>{plain(summary.values)}</dd></div>
            <div><dt>{t('validation.differences')}</dt><dd>{plain(summary.differences)}</dd></div>
            <div><dt>{t('validation.overflow_layers')}</dt><dd>{plain(summary.overflows)}</dd></div>
            <div><dt>{t('validation.took')}</dt><dd>{t('validation.of_budget', { took: duration(summary.seconds), budget: duration(summary.budget_s) })}</dd></div>
          </dl>
        </Card>
      )}
      {points.length > 0 && <Card title={title}><DataTable label={title} columns={columns} rows={points} marked={(one) => one.verdict === 'differs'} height={480} /></Card>}
    </div>
  );
}
