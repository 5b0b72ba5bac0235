// Choosing a model, or several with their shares of the images.
import { useModels } from '../api/queries';
import { useSpeech } from '../i18n/i18n';
import { isMix, mixOf, mixText, mostWorkloads, type MixPart } from './mix';
import { ModelPicker } from './model_picker';

export function MixPicker({ value, onChange }: { value: string; onChange: (mix: string) => void }) {
  const { t } = useSpeech();
  const models = useModels();
  const parts = mixOf(value);
  const set = (at: number, part: Partial<MixPart>) => onChange(mixText(parts.map((one, k) => (k === at ? { ...one, ...part } : one))));
  const free = (models.data ?? []).filter((one) => !parts.some((part) => part.model === one.name));
  const next = free.find((one) => one.kind === 'pipeline') ?? free[0];
  return (
    <>
      <ModelPicker value={parts[0]?.model ?? value} onChange={(model) => set(0, { model })} />
      <div className="mix">
        {parts.length > 1 && parts.map((part, at) => (
          <div key={part.model} className="row">
            {at === 0 ? <code>{part.model}</code> : (
              <label className="inline">
                <span className="visually-hidden">{t('mix.workload')}</span>
                <select value={part.model} onChange={(event) => set(at, { model: event.target.value })}>
                  {[part.model, ...free.map((one) => one.name)].map((name) => <option key={name} value={name}>{name}</option>)}
                </select>
              </label>
            )}
            <label className="inline">
              <span>{t('mix.weight')}</span>
              <input type="number" min={0} max={1e6} step="any" value={Number.isNaN(part.weight) ? '' : part.weight} onChange={(event) => set(at, { weight: event.target.valueAsNumber })} />
            </label>
            {at > 0 && <button type="button" onClick={() => onChange(mixText(parts.filter((_, k) => k !== at)))}>{t('mix.remove')}<span className="visually-hidden"> {part.model}</span></button>}
          </div>
        ))}
        {parts.length < mostWorkloads && next && (
          <button type="button" data-action="add-workload" onClick={() => onChange(mixText([...parts, { model: next.name, weight: 1 }]))}>{t('mix.add')}</button>
        )}
        {parts.length > 1 && <p className="muted">{t('mix.note')}</p>}
        {!isMix(value) && <p className="fault">{t('mix.fault')}</p>}
      </div>
    </>
  );
}
