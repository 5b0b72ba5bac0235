// One axis of a sweep: a list of values, or a range with a step or a factor.
import type { Parameter } from '../api/types';
import { useSpeech } from '../i18n/i18n';
import { Segments } from '../ui/basics';
import { axisOf, type AxisDraft } from './axes';

interface Props {
  draft: AxisDraft;
  parameter: Parameter;
  onChange: (draft: AxisDraft) => void;
  onRemove: () => void;
}

export function AxisEditor({ draft, parameter, onChange, onRemove }: Props) {
  const { t, language } = useSpeech();
  const result = axisOf(draft, parameter);
  const numeric = parameter.type === 'count' || parameter.type === 'decimal';
  const box = (name: 'min' | 'max' | 'by', label: string) => (
    <label className="inline">
      <span>{label}</span>
      <input type="text" value={draft[name]} size={9} onChange={(event) => onChange({ ...draft, [name]: event.target.value })} />
    </label>
  );
  return (
    <li className="axis">
      <div className="axis-head">
        <code>{parameter.name}</code>
        <span className="muted axis-doc">{parameter.doc[language]}</span>
        <span className="axis-count">{'count' in result ? t('axis.count', { count: result.count }) : ''}</span>
        <button type="button" className="icon" onClick={onRemove} aria-label={t('axis.remove', { name: parameter.name })}>×</button>
      </div>
      <div className="axis-body">
        {numeric && (
          <Segments
            label={t('axis.kind')} value={draft.kind} onChange={(kind) => onChange({ ...draft, kind: kind as AxisDraft['kind'] })}
            items={[{ id: 'values', label: t('axis.values') }, { id: 'step', label: t('axis.step') }, { id: 'factor', label: t('axis.factor') }]}
          />
        )}
        {draft.kind === 'values' ? (
          <input
            type="text" className="wide" value={draft.values} aria-label={t('axis.values_of', { name: parameter.name })} spellCheck={false}
            onChange={(event) => onChange({ ...draft, values: event.target.value })} aria-invalid={'fault' in result}
          />
        ) : (
          <>
            {box('min', t('axis.from'))}
            {box('max', t('axis.to'))}
            {box('by', draft.kind === 'step' ? t('axis.step') : t('axis.factor'))}
          </>
        )}
      </div>
      <label className="inline">
        <span>{t('axis.when')}</span>
        <input type="text" className="wide" value={draft.when ?? ''} maxLength={900} placeholder={t('axis.when_hint')} spellCheck={false} onChange={(event) => onChange({ ...draft, when: event.target.value })} />
      </label>
      {'fault' in result && <p className="fault" role="alert">{t(result.fault.key, result.fault.values)}</p>}
    </li>
  );
}
