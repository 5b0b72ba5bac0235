// Choosing a model: pipelines and models grouped, uploaded ones, and a place to drop a file.
import { Link } from 'wouter';
import { useModel, useModels } from '../api/queries';
import type { ModelSummary } from '../api/types';
import { quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { ErrorBox, Skeleton } from '../ui/basics';
import { Upload } from './upload';

export function ModelPicker({ value, onChange, upload = true }: { value: string; onChange: (name: string) => void; upload?: boolean }) {
  const { t } = useSpeech();
  const models = useModels();
  if (models.isPending) return <Skeleton lines={2} />;
  if (models.isError) return <ErrorBox error={models.error} retry={() => void models.refetch()} />;
  const groups: [string, ModelSummary[]][] = [
    [t('model.uploaded'), models.data.filter((one) => one.origin === 'uploaded')],
    [t('model.pipelines'), models.data.filter((one) => one.origin === 'built_in' && one.kind === 'pipeline')],
    [t('model.models'), models.data.filter((one) => one.origin === 'built_in' && one.kind === 'model')],
  ];
  return (
    <div className="model-picker">
      <label className="stack">
        <span className="label">{t('model.choose')}</span>
        <select value={value} onChange={(event) => onChange(event.target.value)}>
          {!models.data.some((one) => one.name === value) && <option value={value}>{value}</option>}
          {groups.filter(([, list]) => list.length > 0).map(([label, list]) => (
            <optgroup key={label} label={label}>
              {list.map((one) => <option key={one.name} value={one.name}>{one.title && one.title !== one.name ? `${one.name} · ${one.title}` : one.name}</option>)}
            </optgroup>
          ))}
        </select>
      </label>
      <ModelLine name={value} />
      <p><Link href={`/models/${encodeURIComponent(value)}`}>{t('model.report')}</Link></p>
      {upload && <Upload onDone={onChange} />}
    </div>
  );
}

/** The facts of a model in one line. */
function ModelLine({ name }: { name: string }) {
  const { t } = useSpeech();
  const model = useModel(name);
  if (model.isError) return <ErrorBox error={model.error} />;
  if (!model.data) return <p className="model-line muted">{t('state.loading')}</p>;
  const stages = model.data.stages ?? [];
  const macs = (one: { macs?: { conv: number; linear: number; matmul: number } | null }) =>
    one.macs ? one.macs.conv + one.macs.linear + one.macs.matmul : 0;
  const parts = stages.length > 0 ? stages : [model.data];
  return (
    <ul className="model-line">
      {parts.map((one) => (
        <li key={one.name}>
          <code>{one.name}</code>
          <span>{t('model.parameters', { count: quantity(one.parameters, '') })}</span>
          {macs(one) > 0 && <span>{quantity(macs(one), 'MAC')}</span>}
        </li>
      ))}
    </ul>
  );
}
