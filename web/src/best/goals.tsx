// The goals in which a machine is to be best: one metric, or several for a front.
import { unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';
import { most, type Goal } from './draft';

const firstChoices = ['area_mm2', 'throughput_fps', 'energy_j_per_frame', 'power_w', 'latency_s', 'price_usd'];

export function Goals({ goals, onChange }: { goals: Goal[]; onChange: (goals: Goal[]) => void }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const taken = new Set(goals.map((one) => one.metric));
  const set = (at: number, goal: Goal) => onChange(goals.map((one, k) => (k === at ? goal : one)));
  const usually = (metric: string): Goal => ({ metric, most: tables.metric(metric)?.better === 'higher' });
  const next = [...firstChoices, ...tables.metrics.map((one) => one.name)].find((name) => !taken.has(name) && tables.metric(name));
  return (
    <fieldset className="goals">
      <legend>{t('best.goals')}</legend>
      {goals.map((goal, k) => (
        <div key={k} className="row goal">
          <select value={goal.most ? 'most' : 'least'} aria-label={t('best.direction', { number: k + 1 })} onChange={(event) => set(k, { ...goal, most: event.target.value === 'most' })}>
            <option value="least">{t('best.least')}</option>
            <option value="most">{t('best.most')}</option>
          </select>
          <select value={goal.metric} aria-label={t('best.metric', { number: k + 1 })} title={tables.metric(goal.metric)?.doc[language]} onChange={(event) => set(k, usually(event.target.value))}>
            {tables.metrics.filter((one) => one.name === goal.metric || !taken.has(one.name)).map((one) => (
              <option key={one.name} value={one.name}>{one.name}{one.unit ? ` [${unitName(one.unit)}]` : ''}</option>
            ))}
          </select>
          {goals.length > 1 && (
            <button type="button" className="icon" aria-label={t('best.remove_goal', { metric: goal.metric })} title={t('best.remove_goal', { metric: goal.metric })} onClick={() => onChange(goals.filter((_, i) => i !== k))}>×</button>
          )}
        </div>
      ))}
      {next !== undefined && goals.length < most.goals && (
        <button type="button" className="quiet" onClick={() => onChange([...goals, usually(next)])}>{t('best.add_goal')}</button>
      )}
      {goals.length > 1 && <p className="muted">{t('best.front_note')}</p>}
    </fieldset>
  );
}
