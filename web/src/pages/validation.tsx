// One validation: the verdict with the first difference on top, coverage, stages, and both sides of every counter.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { answer, client } from '../api/client';
import { isLive, useValidation } from '../api/queries';
import type { Validation, ValidationResult } from '../api/types';
import { changedFrom, defaultPreset, encodeSettings, settingsOf } from '../form/values';
import { duration, percent, plain } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Infeasible } from '../point/analysis_view';
import { useQueryState } from '../state/location';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';
import { StageCountersView } from '../validation/counters';
import { StagesTable } from '../validation/stages_table';
import { TensorsTable } from '../validation/tensors';
import { FirstDifferenceBox, VerdictBadge, verdictIn } from '../validation/verdict';

export const ValidationPage = ({ id }: { id: number }) => (
  <TablesGate>
    <ValidationView id={id} />
  </TablesGate>
);

function ValidationView({ id }: { id: number }) {
  const { t } = useSpeech();
  const validation = useValidation(id);
  if (validation.isError) return <ErrorBox error={validation.error} retry={() => void validation.refetch()} />;
  if (validation.isPending) return <Skeleton height={480} />;
  const { state, error, result, progress } = validation.data;
  return (
    <div className="page">
      <Head validation={validation.data} />
      {isLive(validation.data) && (
        <Card>
          <p role="status">{progress?.doing ? wordFor(t, 'doing', progress.doing) : wordFor(t, 'state', state)} {progress && progress.total > 0 && `${plain(progress.done)} / ${plain(progress.total)}`}</p>
          <progress className="run-progress" {...(progress && progress.total > 0 ? { value: progress.done, max: progress.total } : {})} aria-label={t('validation.progress')} />
        </Card>
      )}
      {error && <div className="error-box" role="alert"><strong>{error.title}</strong><p lang="en">{error.detail}</p><code>{error.code}</code></div>}
      {result && (result.feasible ? <Found result={result} /> : <Infeasible reason={result.reason} />)}
    </div>
  );
}

function Head({ validation }: { validation: Validation }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: validation.id } } };
  const cancel = useMutation({
    mutationFn: () => answer(client.POST('/api/v1/validations/{id}/cancel', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['validation', validation.id] }),
  });
  const remove = useMutation({
    mutationFn: () => answer(client.DELETE('/api/v1/validations/{id}', path)),
    onSuccess: async () => { navigate('/validate'); await queries.invalidateQueries({ queryKey: ['validations'] }); },
  });
  const settings = changedFrom(tables.machineOf(defaultPreset), settingsOf(validation.request.machine ?? {}));
  const query = new URLSearchParams({ model: validation.model, preset: defaultPreset, set: encodeSettings(settings) }).toString();
  const { summary } = validation;
  const failure = cancel.error ?? remove.error;
  return (
    <>
      <nav className="crumbs" aria-label={t('point.crumbs')}>
        <Link href="/validate">{t('nav.validate')}</Link> <span aria-hidden="true">/</span> <span>{t('validation.number', { id: validation.id })}</span>
      </nav>
      <div className="page-title">
        <div className="row">
          <h1>{t('validation.title', { model: validation.model })}</h1>
          {summary ? <VerdictBadge verdict={verdictIn(summary)} />
            : <span className={`state state-${validation.state}`} data-state={validation.state}>{wordFor(t, 'state', validation.state)}</span>}
        </div>
        <div className="card-actions">
          <Link className="button" href={`/validate?${query}`}>{t('validation.again')}</Link>
          <Link className="button" href={`/what-if?${query}`}>{t('point.vary')}</Link>
          {isLive(validation) ? <button type="button" onClick={() => cancel.mutate()} disabled={cancel.isPending}>{t('action.cancel')}</button>
            : <button type="button" className="quiet" onClick={() => remove.mutate()} disabled={remove.isPending}>{t('action.delete')}</button>}
        </div>
      </div>
      {failure && <ErrorBox error={failure} />}
    </>
  );
}

function Found({ result }: { result: ValidationResult }) {
  const { t } = useSpeech();
  const [wanted, setStage] = useQueryState('stage', result.first_difference?.stage ?? result.stages[0]?.name ?? '');
  const stage = result.stages.find((one) => one.name === wanted) ?? result.stages[0];
  const tensors = result.tensors.find((one) => one.stage === stage?.name);
  return (
    <>
      {result.first_difference ? <FirstDifferenceBox first={result.first_difference} />
        : result.coverage.values > 0 && <p className="pass-box" role="status">{t('validation.pass_line', { values: plain(result.coverage.values), instructions: plain(result.coverage.instructions_compared) })}</p>}
      <CoverageFacts result={result} />
      <StagesTable result={result} current={stage?.name ?? ''} onStage={setStage} />
      {stage && stage.passes.length > 0 && <StageCountersView key={stage.name} result={result} stage={stage} />}
      {tensors && tensors.layers.length > 0 && <TensorsTable tensors={tensors} />}
    </>
  );
}

function CoverageFacts({ result }: { result: ValidationResult }) {
  const { t } = useSpeech();
  const { coverage } = result;
  const share = (part: number, all: number) => `${plain(part)} / ${plain(all)}${all > 0 ? ` (${percent(part / all, 3)})` : ''}`;
  const facts: [string, string][] = [
    [t('validation.instructions'), share(coverage.instructions_compared, coverage.instructions)],
    [t('validation.classes'), share(coverage.classes_compared, coverage.classes)],
    [t('validation.executed_classes'), share(coverage.classes_executed, coverage.classes)],
    [t('validation.values'), plain(coverage.values)],
    [t('validation.differences'), plain(coverage.differences)],
    [t('validation.tile_operations'), plain(coverage.tile_operations)],
    [t('validation.elements'), plain(coverage.elements)],
    [t('validation.overflow_layers'), plain(coverage.overflows)],
    [t('validation.took'), duration(result.seconds)],
  ];
  return (
    <Card title={t('validation.coverage')}>
      <dl className="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </Card>
  );
}
