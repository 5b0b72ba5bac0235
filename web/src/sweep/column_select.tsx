// A choice among the columns of a sweep: its swept parameters and all metrics.
import { headed } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';

interface Props {
  label: string;
  value: string;
  axes: string[];
  onChange: (name: string) => void;
  directed?: boolean; // only metrics of which more, or less, is better
  extra?: { id: string; label: string }[];
}

export function ColumnSelect({ label, value, axes, onChange, directed = false, extra = [] }: Props) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  return (
    <label className="inline">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {extra.map((one) => <option key={one.id} value={one.id}>{one.label}</option>)}
        <optgroup label={t('chart.metrics')}>
          {tables.metrics.filter((one) => !directed || one.better !== 'neither').map((one) => <option key={one.name} value={one.name} title={one.doc[language]}>{headed(one.name, one.unit)}</option>)}
        </optgroup>
        {axes.length > 0 && (
          <optgroup label={t('chart.swept')}>
            {axes.map((name) => <option key={name} value={name}>{headed(name, tables.unitOf(name))}</option>)}
          </optgroup>
        )}
      </select>
    </label>
  );
}
