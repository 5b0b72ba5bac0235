// The models: which there are, a place to upload one, and the report on the one that is chosen.
import { Link, useLocation } from 'wouter';
import { useModel, useModels } from '../api/queries';
import type { ModelSummary } from '../api/types';
import { quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { ModelReport } from '../models/report';
import { Upload } from '../models/upload';
import { useQueryState } from '../state/location';
import { ErrorBox, Skeleton, Tabs } from '../ui/basics';

export function ModelsPage({ name }: { name: string | null }) {
  const { t } = useSpeech();
  const models = useModels();
  const [, navigate] = useLocation();
  if (models.isError) return <ErrorBox error={models.error} retry={() => void models.refetch()} />;
  if (models.isPending) return <div className="with-side"><Skeleton lines={6} /><Skeleton height={480} /></div>;
  const current = name ?? models.data.find((one) => one.origin === 'uploaded')?.name ?? models.data[0]?.name ?? '';
  return (
    <div className="with-side models">
      <aside aria-label={t('nav.models')}>
        <Upload onDone={(uploaded) => navigate(`/models/${encodeURIComponent(uploaded)}`)} />
        <ModelList models={models.data} current={current} />
      </aside>
      <div className="page"><Model key={current} name={current} /></div>
    </div>
  );
}

function ModelList({ models, current }: { models: ModelSummary[]; current: string }) {
  const { t } = useSpeech();
  const groups: [string, ModelSummary[]][] = [
    [t('model.uploaded'), models.filter((one) => one.origin === 'uploaded')],
    [t('model.pipelines'), models.filter((one) => one.origin === 'built_in' && one.kind === 'pipeline')],
    [t('model.models'), models.filter((one) => one.origin === 'built_in' && one.kind === 'model')],
  ];
  return groups.filter(([, list]) => list.length > 0).map(([title, list]) => (
    <section key={title} className="model-group">
      <h2>{title}</h2>
      <ul className="sweep-list">
        {list.map((one) => (
          <li key={one.name}>
            <Link href={`/models/${encodeURIComponent(one.name)}`} aria-current={one.name === current ? 'page' : undefined}>
              <span className="sweep-name">{one.name}</span>
              <span className="muted">{quantity(one.parameters, '', 3)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ));
}

function Model({ name }: { name: string }) {
  const { t } = useSpeech();
  const model = useModel(name);
  const [chosen, choose] = useQueryState('stage', '');
  if (model.isError) return <ErrorBox error={model.error} retry={() => void model.refetch()} />;
  if (!model.data) return <Skeleton height={480} />;
  const { stages, title } = model.data;
  const stage = stages.find((one) => one.name === chosen) ?? stages[0];
  if (!stage) return null;
  const bound = Object.entries(model.data.dims);
  const { given = {}, assumed = [] } = model.data as { given?: Record<string, string>; assumed?: string[] };
  return (
    <>
      <div className="page-title">
        <h1>{name}</h1>
        <div className="card-actions"><Link className="button" href={`/what-if?model=${encodeURIComponent(name)}`}>{t('nav.what_if')}</Link></div>
      </div>
      <p className="lead">
        {title !== name && <>{title}. </>}
        {bound.length > 0 && t('report.bound', { dims: bound.map(([dim, size]) => `${dim}=${size}`).join(', ') })}
        {Object.keys(given).length > 0 && ` ${t('report.given', { inputs: Object.entries(given).map(([input, value]) => `${input}=${value}`).join(', ') })}`}
        {assumed.length > 0 && ` ${t('report.assumed', { dims: assumed.join(', ') })}`}
      </p>
      {stages.length > 1 && (
        <Tabs
          label={t('report.stages')} controls="model-stage" value={stage.name} onChange={choose}
          items={stages.map((one) => ({ id: one.name, label: `${wordFor(t, 'part', one.role)} · ${one.name}` }))}
        />
      )}
      {stages.length > 1
        ? <div id="model-stage" role="tabpanel" aria-labelledby={`model-stage-tab-${stage.name}`}><ModelReport stage={stage} /></div>
        : <ModelReport stage={stage} />}
    </>
  );
}
