// Limits that a point must keep: area at most, throughput at least.
import { useState, type FormEvent } from 'react';
import type { Constraint } from '../chart/scatter_model';
import { parseNumber, plain, quantity, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';

interface Props {
  constraints: Constraint[];
  /** The sweep's own conditions, in words. */
  own: string[];
  onChange: (constraints: Constraint[]) => void;
  met: number;
  of: number;
}

export function Constraints({ constraints, own, onChange, met, of }: Props) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const [metric, setMetric] = useState('area_mm2');
  const [text, setText] = useState('');
  const most = tables.metric(metric)?.better !== 'higher';
  const value = parseNumber(text);
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (value === null) return;
    onChange([...constraints.filter((one) => one.metric !== metric || one.most !== most), { metric, most, value }]);
    setText('');
  };
  return (
    <div className="constraints">
      <form onSubmit={add}>
        <span className="label">{t('limit.title')}</span>
        <select value={metric} onChange={(event) => setMetric(event.target.value)} aria-label={t('limit.metric')}>
          {tables.metrics.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
        </select>
        <span aria-hidden="true">{most ? '≤' : '≥'}</span>
        <input type="text" size={8} value={text} placeholder={unitName(tables.metric(metric)?.unit ?? '')} aria-label={t(most ? 'limit.most' : 'limit.least', { name: metric })} onChange={(event) => setText(event.target.value)} />
        <button type="submit" disabled={value === null}>{t('limit.add')}</button>
      </form>
      {own.map((condition) => <span key={condition} className="chip">{condition}</span>)}
      {constraints.map((one) => (
        <button key={`${one.metric}${one.most}`} type="button" className="chip" onClick={() => onChange(constraints.filter((other) => other !== one))} title={t('limit.remove', { name: one.metric })}>
          {one.metric} {one.most ? '≤' : '≥'} {quantity(one.value, tables.unitOf(one.metric))} <span aria-hidden="true">×</span>
        </button>
      ))}
      {constraints.length + own.length > 0 && <span className="muted" role="status">{t('limit.met', { met: plain(met), of: plain(of) })}</span>}
    </div>
  );
}
