// One search for the best machine: how far it is and the best so far, then what it found.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { answer, client } from '../api/client';
import { isLive, startSearch, useSearch } from '../api/queries';
import type { BestSoFar, Search } from '../api/types';
import { Answer } from '../best/answer';
import { goalOf } from '../best/draft';
import { TraceChart } from '../best/trace_chart';
import { defaultPreset } from '../form/values';
import { duration, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const BestSearchPage = ({ id }: { id: number }) => (
  <TablesGate>
    <SearchView id={id} />
  </TablesGate>
);

function SearchView({ id }: { id: number }) {
  const search = useSearch(id);
  if (search.isError) return <ErrorBox error={search.error} retry={() => void search.refetch()} />;
  if (search.isPending) return <Skeleton height={480} />;
  const { error, result, progress, model } = search.data;
  return (
    <div className="page">
      <Head search={search.data} />
      {error && <div className="error-box" role="alert"><strong>{error.title}</strong><p lang="en">{error.detail}</p><code>{error.code}</code></div>}
      {isLive(search.data) && <Running search={search.data} />}
      {result && <Answer model={model} result={result} />}
      {!progress && result && <SoFar search={search.data} at={result} />}
    </div>
  );
}

/** Progress and trace are of the first objective. */
function useFirstGoal(search: Search) {
  const tables = useMachineTables();
  const goal = goalOf(search.request.objectives[0] ?? '', (metric) => tables.metric(metric)?.better);
  const own = search.request.metrics?.[goal.metric];
  const unit = typeof own === 'object' ? own.unit ?? '' : tables.unitOf(goal.metric);
  return { metric: goal.metric, unit };
}

function Running({ search }: { search: Search }) {
  const { t } = useSpeech();
  const { progress, request, state } = search;
  const { metric, unit } = useFirstGoal(search);
  const evaluations = request.evaluations ?? 0;
  const [value, max] = !progress || progress.doing !== 'search' ? [undefined, undefined]
    : evaluations > 0 ? [progress.evaluated, evaluations] : [progress.seconds, request.seconds ?? 60];
  return (
    <>
      <Card>
        <p role="status">{progress ? wordFor(t, 'doing', progress.doing) : wordFor(t, 'state', state)}</p>
        <progress className="run-progress" {...(value !== undefined ? { value: Math.min(value, max), max } : {})} aria-label={t('best.progress')} />
        {progress && (
          <dl className="facts">
            <div><dt>{t('best.so_far')}</dt><dd data-so-far>{progress.best ? `${metric} ${quantity(progress.best[0], unit)}` : t('best.none_keeps')}</dd></div>
            <div><dt>{t('best.evaluated')}</dt><dd>{plain(progress.evaluated)}</dd></div>
            <div><dt>{t('sweep.feasible')}</dt><dd>{plain(progress.feasible)}</dd></div>
            <div><dt>{t('best.compiled')}</dt><dd>{plain(progress.compiled)}</dd></div>
            <div><dt>{t('best.generations')}</dt><dd>{plain(progress.generations)}</dd></div>
            <div><dt>{t('best.time')}</dt><dd>{duration(progress.seconds)}</dd></div>
          </dl>
        )}
      </Card>
      {progress && <SoFar search={search} at={progress} />}
    </>
  );
}

/** How the best machine became better, or of several objectives how much the front came to cover. */
function SoFar({ search, at }: { search: Search; at: { trace: BestSoFar[]; evaluated: number } }) {
  const { t } = useSpeech();
  const { metric, unit } = useFirstGoal(search);
  const volumes = at.trace.filter((one) => typeof one.volume === 'number').map((one) => ({ evaluated: one.evaluated, values: [one.volume ?? null] }));
  const last = volumes.at(-1)?.values[0] ?? null;
  return (
    <Card>
      {last === null ? <TraceChart trace={at.trace} evaluated={at.evaluated} metric={metric} unit={unit} /> : (
        <TraceChart
          trace={volumes} evaluated={at.evaluated} metric={t('growth.volume')} unit=""
          words={{ title: t('best.trace_front'), note: t('best.trace_front_note', { volume: quantity(last, '') }), counted: t('best.evaluated') }}
        />
      )}
    </Card>
  );
}

function Head({ search }: { search: Search }) {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: search.id } } };
  const refresh = () => queries.invalidateQueries({ queryKey: ['searches'] });
  const cancel = useMutation({ mutationFn: () => answer(client.POST('/api/v1/searches/{id}/cancel', path)), onSuccess: async () => { await queries.invalidateQueries({ queryKey: ['search', search.id] }); await refresh(); } });
  const again = useMutation({
    mutationFn: () => startSearch(search.request),
    onSuccess: async (started) => { navigate(`/best/${started.id}`); await refresh(); },
  });
  const remove = useMutation({
    mutationFn: () => answer(client.DELETE('/api/v1/searches/{id}', path)),
    onSuccess: async () => { navigate('/best'); await refresh(); },
  });
  const { request, result } = search;
  const failure = cancel.error ?? again.error ?? remove.error;
  return (
    <>
      <nav className="crumbs" aria-label={t('point.crumbs')}>
        <Link href="/best">{t('nav.best')}</Link> <span aria-hidden="true">/</span> <span>{t('best.number', { id: search.id })}</span>
      </nav>
      <div className="page-title">
        <div className="row">
          <h1>{t('best.of', { model: search.model })}</h1>
          <span className={`state state-${search.state}`} data-state={search.state}>{wordFor(t, 'state', search.state)}</span>
        </div>
        <div className="card-actions">
          {isLive(search) ? <button type="button" onClick={() => cancel.mutate()} disabled={cancel.isPending}>{t('action.cancel')}</button> : (
            <>
              <button type="button" onClick={() => again.mutate()} disabled={again.isPending}>{t('best.again')}</button>
              <button type="button" className="quiet" onClick={() => remove.mutate()} disabled={remove.isPending}>{t('action.delete')}</button>
            </>
          )}
        </div>
      </div>
      <dl className="facts">
        <div><dt>{t('best.goals')}</dt><dd>{request.objectives.map((one) => <Goal key={one} text={one} />)}</dd></div>
        {(request.constraints ?? []).length > 0 && <div><dt>{t('best.where')}</dt><dd>{(request.constraints ?? []).map((one) => <span key={one} className="chip">{one}</span>)}</dd></div>}
        <div><dt>{t('form.preset')}</dt><dd><code>{request.preset ?? defaultPreset}</code></dd></div>
        <div><dt>{t('new.seed')}</dt><dd>{request.seed ?? 1}</dd></div>
        {result && <div><dt>{t('best.evaluated')}</dt><dd>{plain(result.evaluated)}</dd></div>}
        {result && <div><dt>{t('best.compiled')}</dt><dd>{plain(result.compiled)}</dd></div>}
        {result && <div><dt>{t('best.rows_searched')}</dt><dd>{plain(result.searched.length)}</dd></div>}
        {result && <div><dt>{t('best.time')}</dt><dd>{duration(result.seconds)}</dd></div>}
      </dl>
      {failure && <ErrorBox error={failure} />}
    </>
  );
}

function Goal({ text }: { text: string }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const goal = goalOf(text, (metric) => tables.metric(metric)?.better);
  return <span className="chip">{t(goal.most ? 'best.most' : 'best.least')} {goal.metric}</span>;
}
