// The machine as a form made from the parameter table: groups that open, a search, what differs from the preset.
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import type { Machine, Parameter } from '../api/types';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Field } from './field';
import { groupsOf, isShown } from './values';

interface Props {
  parameters: Parameter[];
  preset: Machine;
  settings: Machine;
  onChange: (settings: Machine) => void;
  onFaults?: (names: string[]) => void;
  swept?: Set<string>;
  /** The switch beside each value that makes it an axis. */
  axisFor?: (parameter: Parameter) => ReactNode;
  open?: string[];
}

export function MachineForm({ parameters, preset, settings, onChange, onFaults, swept, axisFor, open = ['cores', 'sram'] }: Props) {
  const { t, language } = useSpeech();
  const [wanted, setWanted] = useState('');
  const [, setFaulty] = useState<Set<string>>(new Set());
  const groups = useMemo(() => groupsOf(parameters), [parameters]);
  const needle = wanted.trim().toLowerCase();
  const matches = (one: Parameter) => needle === '' || `${one.name} ${one.doc.en} ${one.doc.ja}`.toLowerCase().includes(needle);
  const valueOf = (name: string) => settings[name] ?? preset[name];
  const inUse = (one: Parameter) =>
    isShown(one, parameters, valueOf) || (valueOf(one.name) ?? one.default) !== one.default || isSet(one.name, settings, swept);
  const changes = Object.keys(settings).filter((name) => settings[name] !== preset[name]).length;
  const report = useCallback((name: string, bad: boolean) => {
    setFaulty((before) => {
      if (before.has(name) === bad) return before;
      const next = new Set(before);
      if (bad) next.add(name);
      else next.delete(name);
      queueMicrotask(() => onFaults?.([...next]));
      return next;
    });
  }, [onFaults]);
  return (
    <div className="machine-form">
      <div className="form-tools">
        <input type="search" value={wanted} onChange={(event) => setWanted(event.target.value)} placeholder={t('form.find')} aria-label={t('form.find')} />
        <button type="button" disabled={changes === 0} onClick={() => onChange({})}>{t('form.reset_all', { count: changes })}</button>
      </div>
      {groups.map((group) => {
        const used = group.parameters.filter(inUse);
        const shown = needle === '' ? used : group.parameters.filter(matches);
        if (shown.length === 0) return null;
        const hidden = needle === '' ? group.parameters.length - used.length : 0;
        const changed = group.parameters.filter((one) => (settings[one.name] ?? preset[one.name]) !== preset[one.name]).length;
        return (
          <Fold key={group.name} title={wordFor(t, 'group', group.name)} count={needle === '' ? used.length : group.parameters.length} changed={changed} forced={needle !== ''} initially={open.includes(group.name)}>
            <div className="fields" lang={language}>
              {shown.map((parameter) => (
                <Field
                  key={parameter.name} parameter={parameter}
                  preset={preset[parameter.name] ?? parameter.default}
                  value={settings[parameter.name] ?? preset[parameter.name] ?? parameter.default}
                  onChange={(value) => onChange(withSetting(settings, preset, parameter.name, value))}
                  onFault={(bad) => report(parameter.name, bad)}
                  swept={swept?.has(parameter.name) ?? false} axis={axisFor?.(parameter)}
                />
              ))}
            </div>
            {hidden > 0 && <p className="muted">{t('form.hidden', { count: hidden })}</p>}
          </Fold>
        );
      })}
    </div>
  );
}

/** Set by hand or swept: then it stays in sight. */
const isSet = (name: string, settings: Machine, swept: Set<string> | undefined): boolean => name in settings || swept?.has(name) === true;

function withSetting(settings: Machine, preset: Machine, name: string, value: Machine[string]): Machine {
  const next = { ...settings, [name]: value };
  if (value === preset[name]) delete next[name];
  return next;
}

interface FoldProps {
  title: string;
  count: number;
  changed: number;
  forced: boolean;
  initially: boolean;
  children: ReactNode;
}

function Fold({ title, count, changed, forced, initially, children }: FoldProps) {
  const { t } = useSpeech();
  const [open, setOpen] = useState(initially);
  const shown = open || forced;
  return (
    <section className="fold">
      <h3>
        <button type="button" aria-expanded={shown} onClick={() => setOpen(!open)}>
          <span className="fold-mark" aria-hidden="true">{shown ? '▾' : '▸'}</span>
          {title}
          <span className="muted">{count}</span>
          {changed > 0 && <span className="changed-mark">{t('form.changed_count', { count: changed })}</span>}
        </button>
      </h3>
      {shown && children}
    </section>
  );
}
