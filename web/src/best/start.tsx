// The goal of a search, and its start.
import type { Machine } from '../api/types';
import { LinksField } from '../form/links_field';
import { inputText } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { Card, ErrorBox, Segments } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import { isReady, most, needsTwoGoals, optimisers, type Optimiser, type SearchDraft } from './draft';
import { Goals } from './goals';

interface Props {
  draft: SearchDraft;
  change: (part: Partial<SearchDraft>) => void;
  /** False while a value of the form is none. */
  sound: boolean;
  pending: boolean;
  error: unknown;
  onStart: () => void;
}

export function SearchStart({ draft, change, sound, pending, error, onStart }: Props) {
  const { t } = useSpeech();
  const ready = sound && isReady(draft);
  return (
    <Card title={t('best.goal')}>
      <Goals goals={draft.goals} onChange={(goals) => change({ goals })} />
      <label className="stack">
        <span className="label">{t('best.conditions')}</span>
        <textarea rows={3} maxLength={16_384} value={draft.conditions} placeholder={t('best.conditions_hint')} onChange={(event) => change({ conditions: event.target.value })} spellCheck={false} />
      </label>
      <LinksField value={draft.links} onChange={(links) => change({ links })} />
      <FixedChips fixed={draft.fixed} onChange={(fixed) => change({ fixed })} />
      <div className="row">
        <Segments
          label={t('best.by')} value={draft.by} onChange={(id) => change({ by: id as SearchDraft['by'] })}
          items={[{ id: 'time', label: t('best.by_time') }, { id: 'evaluations', label: t('best.by_evaluations') }]}
        />
        {draft.by === 'time'
          ? <Whole label={t('best.seconds')} least={1} greatest={most.seconds} value={draft.seconds} onChange={(seconds) => change({ seconds })} />
          : <Whole label={t('best.machines')} least={1} greatest={most.evaluations} value={draft.evaluations} onChange={(evaluations) => change({ evaluations })} />}
        <Whole label={t('new.seed')} least={0} greatest={Number.MAX_SAFE_INTEGER} value={draft.seed} onChange={(seed) => change({ seed })} />
        <Whole label={t('best.validate_seconds')} least={0} greatest={most.validateSeconds} value={draft.validateSeconds} onChange={(validateSeconds) => change({ validateSeconds })} />
      </div>
      <div className="row">
        <label className="inline">
          <span>{t('best.optimiser')}</span>
          <select value={draft.optimiser} onChange={(event) => change({ optimiser: event.target.value as Optimiser })}>
            {optimisers.map((one) => <option key={one} value={one}>{t(`optimiser.${one}`)}</option>)}
          </select>
        </label>
        <Whole label={t('best.islands')} least={1} greatest={most.islands} value={draft.islands} onChange={(islands) => change({ islands })} />
      </div>
      {needsTwoGoals(draft.optimiser) && <p className={draft.goals.length > 1 ? 'muted' : 'fault'}>{t('best.optimiser_note')}</p>}
      <div className="row">
        <label className="inline">
          <span>{t('best.sqnr')}</span>
          <input type="number" step="any" value={draft.sqnr} placeholder={t('best.sqnr_none')} onChange={(event) => change({ sqnr: event.target.value })} />
        </label>
        {draft.sqnr.trim() !== '' && (
          <label className="inline">
            <span>{t('best.sqnr_model')}</span>
            <input type="text" maxLength={200} value={draft.sqnrModel} placeholder={draft.model} onChange={(event) => change({ sqnrModel: event.target.value })} />
          </label>
        )}
      </div>
      {draft.sqnr.trim() !== '' && <p className="muted">{t('best.sqnr_note')}</p>}
      <p className="muted">{t(draft.by === 'time' ? 'best.time_note' : 'best.evaluations_note')}</p>
      {error !== null && error !== undefined && <ErrorBox error={error} />}
      <div className="start-row">
        <p className="muted">{t('best.run_note')}</p>
        <button type="button" className="primary large" disabled={!ready || pending} onClick={onStart} data-action="start-search">{pending ? t('new.starting') : t('best.start')}</button>
      </div>
      {!ready && <p className="fault">{t('best.not_ready')}</p>}
    </Card>
  );
}

function Whole({ label, least, greatest, value, onChange }: { label: string; least: number; greatest: number; value: number; onChange: (value: number) => void }) {
  return (
    <label className="inline">
      <span>{label}</span>
      <input type="number" min={least} max={greatest} step={1} value={Number.isNaN(value) ? '' : value} onChange={(event) => onChange(event.target.valueAsNumber)} />
    </label>
  );
}

/** Parameters that are not searched, each with a way back into the search. */
function FixedChips({ fixed, onChange }: { fixed: Machine; onChange: (fixed: Machine) => void }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const names = Object.keys(fixed);
  const text = (name: string) => {
    const parameter = tables.parameter(name);
    return parameter ? inputText(parameter, fixed[name] ?? parameter.default) : String(fixed[name]);
  };
  return (
    <div className="constraints fixed-chips">
      <span className="label">{t('best.fixed_count', { count: names.length })}</span>
      {names.length === 0 && <span className="muted">{t('best.fixed_none')}</span>}
      {names.map((name) => (
        <button key={name} type="button" className="chip" title={t('best.release', { name })} onClick={() => onChange(Object.fromEntries(Object.entries(fixed).filter(([one]) => one !== name)))}>
          {name} = {text(name)} <span aria-hidden="true">×</span><span className="visually-hidden">{t('best.release', { name })}</span>
        </button>
      ))}
    </div>
  );
}
