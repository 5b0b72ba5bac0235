// The validation of a sweep's front in a line: its verdict, how much of it was covered, and the way to the details.
import { Link } from 'wouter';
import { isLive } from '../api/queries';
import type { SweepValidation } from '../api/types';
import { useSpeech, wordFor } from '../i18n/i18n';
import { VerdictBadge } from './verdict';

export function FrontLine({ sweep, validation }: { sweep: number; validation: SweepValidation }) {
  const { t } = useSpeech();
  const { summary, progress } = validation;
  return (
    <span className="front-line">
      {summary ? <VerdictBadge verdict={summary.verdict} />
        : <span className={`state state-${validation.state}`} data-validation={validation.state}>{wordFor(t, 'state', validation.state)}</span>}
      {summary && <span>{t('validation.covered', { covered: summary.points_covered, points: summary.points })}</span>}
      {isLive(validation) && progress && <span className="muted">{progress.done} / {progress.total}</span>}
      {summary && <Link href={`/sweeps/${sweep}/validation`}>{t('validation.details')}</Link>}
    </span>
  );
}
