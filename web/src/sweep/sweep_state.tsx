// The state of a sweep as a badge: one that is done and has nothing feasible is no success.
import type { Sweep } from '../api/types';
import { useSpeech, wordFor } from '../i18n/i18n';

export function SweepState({ sweep }: { sweep: Sweep }) {
  const { t } = useSpeech();
  const none = sweep.state === 'done' && sweep.done > 0 && sweep.feasible === 0;
  return (
    <span className={`state state-${none ? 'none' : sweep.state}`} data-state={sweep.state}>
      {none ? t('infeasible.state') : wordFor(t, 'state', sweep.state)}
    </span>
  );
}
