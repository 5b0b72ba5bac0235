// The machine of a design point, what differs from the preset first.
import { useState } from 'react';
import type { Machine, Parameter } from '../api/types';
import { inputText, technology } from '../form/values';
import { unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Check } from '../sweep/pareto';
import { useMachineTables } from '../ui/tables_gate';

export function MachineTable({ machine, preset }: { machine: Machine; preset: string }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const base = tables.machineOf(preset);
  const [all, setAll] = useState(false);
  const changed = (one: Parameter) => machine[one.name] !== base[one.name];
  const shown = tables.parameters.filter((one) => all || changed(one));
  const own = Object.entries(machine).filter(([name]) => name.startsWith(technology));
  const text = (one: Parameter, value: Machine[string] | undefined) =>
    value === undefined ? '–' : `${inputText(one, value)}${one.unit && !(one.unit === 'B' && /[A-Z]/.test(inputText(one, value))) ? ` ${unitName(one.unit)}` : ''}`;
  return (
    <>
      <div className="row between">
        <p className="muted">{t('machine.against', { preset, count: tables.parameters.filter(changed).length + own.length })}</p>
        <Check label={t('machine.all')} on={all} set={setAll} />
      </div>
      {shown.length + own.length === 0 ? <p>{t('machine.same', { preset })}</p> : (
        <div className="plain-table" tabIndex={0} role="region" aria-label={t('point.machine')}>
          <table className="machine-table">
            <thead><tr><th scope="col">{t('machine.parameter')}</th><th scope="col">{t('machine.value')}</th><th scope="col">{preset}</th><th scope="col">{t('machine.meaning')}</th></tr></thead>
            <tbody>
              {shown.map((one) => (
                <tr key={one.name} className={changed(one) ? 'changed' : ''}>
                  <th scope="row"><code>{one.name}</code></th>
                  <td><strong>{text(one, machine[one.name])}</strong></td>
                  <td className="muted">{text(one, base[one.name])}</td>
                  <td className="muted">{one.doc[language]}</td>
                </tr>
              ))}
              {own.map(([name, value]) => (
                <tr key={name} className="changed">
                  <th scope="row"><code>{name}</code></th>
                  <td><strong>{String(value)}</strong></td>
                  <td className="muted">–</td>
                  <td />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
