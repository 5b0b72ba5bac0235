// The meaning of a knee's mark, beside a scatter.
import { useSpeech } from '../i18n/i18n';
import { diamond } from './front_marks';

export function KneeKey({ count }: { count: number }) {
  const { t } = useSpeech();
  if (count === 0) return null;
  return (
    <p className="muted knee-key" data-knees={count}>
      <svg width={20} height={20} aria-hidden="true"><path d={diamond(10, 10)} /></svg> {t('front.knee_key')}
    </p>
  );
}
