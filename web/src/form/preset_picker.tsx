// Choosing the preset that gives every parameter not set in the form.
import { useSpeech } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';

export function PresetPicker({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const { t, language } = useSpeech();
  const { presets } = useMachineTables();
  return (
    <label className="stack">
      <span className="label">{t('form.preset')}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {presets.map((one) => <option key={one.name} value={one.name}>{one.name} · {one.doc[language]}</option>)}
      </select>
    </label>
  );
}
