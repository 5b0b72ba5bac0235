// One parameter of the form: its name, what it is, its value, whether it differs from the preset.
import { useEffect, useState, type ReactNode } from 'react';
import type { Parameter, ParameterValue } from '../api/types';
import { quantity, unitName } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { inputText, parseValue } from './values';

interface Props {
  parameter: Parameter;
  value: ParameterValue;
  preset: ParameterValue;
  onChange: (value: ParameterValue) => void;
  /** A text that is no value: the form cannot be sent while there is one. */
  onFault: (faulty: boolean) => void;
  axis?: ReactNode;
  swept?: boolean;
}

export function Field({ parameter, value, preset, onChange, onFault, axis, swept }: Props) {
  const { t, language } = useSpeech();
  const id = `field-${parameter.name}`;
  const changed = value !== preset;
  return (
    <div className={`field ${changed ? 'changed' : ''} ${swept ? 'swept' : ''}`}>
      <label htmlFor={id}>
        <span className="field-name">{parameter.name}</span>
        {changed && <span className="changed-mark">{t('form.changed')}</span>}
      </label>
      <div className="field-input">
        {parameter.type === 'choice' || parameter.type === 'flag' ? (
          <ChoiceInput id={id} parameter={parameter} value={value} onChange={onChange} disabled={swept === true} />
        ) : (
          <NumberInput id={id} parameter={parameter} value={value} onChange={onChange} onFault={onFault} disabled={swept === true} />
        )}
        {changed && !swept && (
          <button type="button" className="icon" onClick={() => onChange(preset)} aria-label={t('form.reset_one', { name: parameter.name })} title={t('form.reset_to', { value: inputText(parameter, preset) })}>
            ↺
          </button>
        )}
        {axis}
      </div>
      <p className="field-doc" id={`${id}-doc`} lang={language}>{parameter.doc[language]}{parameter.more_gives !== 'nothing' && ` · ${wordFor(t, 'gives', parameter.more_gives)}`}</p>
    </div>
  );
}

interface InputProps {
  id: string;
  parameter: Parameter;
  value: ParameterValue;
  onChange: (value: ParameterValue) => void;
  disabled: boolean;
}

function ChoiceInput({ id, parameter, value, onChange, disabled }: InputProps) {
  if (parameter.type === 'flag') {
    return (
      <input id={id} type="checkbox" checked={value === true} disabled={disabled} aria-describedby={`${id}-doc`} onChange={(event) => onChange(event.target.checked)} />
    );
  }
  return (
    <select id={id} value={String(value)} disabled={disabled} aria-describedby={`${id}-doc`} onChange={(event) => onChange(event.target.value)}>
      {parameter.choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
    </select>
  );
}

function NumberInput({ id, parameter, value, onChange, onFault, disabled }: InputProps & { onFault: (faulty: boolean) => void }) {
  const { t } = useSpeech();
  const [text, setText] = useState(() => inputText(parameter, value));
  const parsed = parseValue(parameter, text);
  const fault = 'fault' in parsed ? parsed.fault : null;
  // A value set from outside (preset, reset, address) replaces the text; one typed here does not reformat it.
  useEffect(() => {
    const now = parseValue(parameter, text);
    if (!('value' in now) || now.value !== value) setText(inputText(parameter, value));
  }, [value, parameter]);
  useEffect(() => onFault(fault !== null), [fault !== null]);
  const range = `${quantity(parameter.min, parameter.unit)} – ${quantity(parameter.max, parameter.unit)}`;
  return (
    <span className="number">
      <input
        id={id} type="text" inputMode="decimal" autoComplete="off" spellCheck={false} value={text} disabled={disabled}
        aria-invalid={fault !== null} aria-describedby={`${id}-doc${fault ? ` ${id}-fault` : ''}`} title={range}
        onChange={(event) => {
          setText(event.target.value);
          const next = parseValue(parameter, event.target.value);
          if ('value' in next) onChange(next.value);
        }}
        onBlur={() => { if (!fault) setText(inputText(parameter, value)); }}
      />
      {parameter.unit !== '' && !/[A-Za-z]/.test(text) && <span className="unit">{unitName(parameter.unit)}</span>}
      {fault && <span className="fault" id={`${id}-fault`} role="alert">{t(fault.key, fault.values)}</span>}
    </span>
  );
}
