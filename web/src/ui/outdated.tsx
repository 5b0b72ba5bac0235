// Marks answers that do not belong to what is asked for now: greyed, and said in words, in the moment of the change.
import type { ReactNode } from 'react';
import { useSpeech, type Key } from '../i18n/i18n';
import { useServerGone } from '../state/connection';

export function Outdated({ when, why = 'outdated.working', children }: { when: boolean; why?: Key; children: ReactNode }) {
  const { t } = useSpeech();
  const gone = useServerGone();
  return (
    <div className="outdated" aria-busy={when} data-outdated={when}>
      {when && <p className="outdated-note" role="status">{t(gone ? 'outdated.gone' : why)}</p>}
      <div className="outdated-body">{children}</div>
    </div>
  );
}
