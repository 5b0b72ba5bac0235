// Marks answers that do not belong to what is asked for now: greyed, and said in words.
import { useEffect, useState, type ReactNode } from 'react';
import { useSpeech, type Key } from '../i18n/i18n';

/** Quick answers come before this and are not flashed at; 200 ms after a change nothing old stands unmarked. */
const graceMs = 100;

/** True once `when` has held for a moment; false again at once. */
function useLasting(when: boolean): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    if (!when) {
      setLasting(false);
      return undefined;
    }
    const timer = setTimeout(() => setLasting(true), graceMs);
    return () => clearTimeout(timer);
  }, [when]);
  return when && lasting;
}

export function Outdated({ when, why = 'outdated.working', children }: { when: boolean; why?: Key; children: ReactNode }) {
  const { t } = useSpeech();
  const marked = useLasting(when);
  return (
    <div className="outdated" aria-busy={when} data-outdated={marked}>
      {marked && <p className="outdated-note" role="status">{t(why)}</p>}
      <div className="outdated-body">{children}</div>
    </div>
  );
}
