// Where rows are told to follow others.
import { useSpeech } from '../i18n/i18n';

export function LinksField({ value, onChange }: { value: string; onChange: (lines: string) => void }) {
  const { t } = useSpeech();
  return (
    <label className="stack">
      <span className="label">{t('new.links')}</span>
      <textarea rows={2} maxLength={16_384} value={value} placeholder={t('new.links_hint')} onChange={(event) => onChange(event.target.value)} spellCheck={false} />
    </label>
  );
}
