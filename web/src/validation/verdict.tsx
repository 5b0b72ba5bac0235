// The verdict of a validation, in a word and in a box: pass, or the first difference with both numbers.
import type { FirstDifference, ValidationSummary } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';

export type Verdict = ValidationSummary['verdict'] | 'infeasible';

/** The verdict of a part of what was validated; that of the whole comes from the server. */
export const verdictOf = (differences: number, compared: number): Verdict =>
  differences > 0 ? 'differs' : compared > 0 ? 'pass' : 'not_compared';

export const verdictIn = (summary: ValidationSummary): Verdict => (summary.feasible ? summary.verdict : 'infeasible');

/** Records that an older server stored have no verdict. */
export function VerdictBadge({ verdict = 'not_compared' }: { verdict?: Verdict }) {
  const { t } = useSpeech();
  const mark = { pass: '✓', differs: '✗', not_compared: '–', infeasible: '–' }[verdict];
  return <span className={`verdict verdict-${verdict}`} data-verdict={verdict}><span aria-hidden="true">{mark}</span> {wordFor(t, 'verdict', verdict)}</span>;
}

/** Both numbers in full, and how far apart they are. */
export function FirstDifferenceBox({ first }: { first: FirstDifference }) {
  const { t } = useSpeech();
  const both = first.estimated !== null && first.executed !== null;
  const counter = first.kind === 'counter';
  return (
    <div className="first-difference" role="alert">
      <strong>{t('validation.first')}</strong>
      <p>
        <code>{first.stage}</code>
        {first.pass !== null && <> · {t('validation.pass_number', { number: first.pass })}</>}
        {first.instruction !== null && <> · {t('validation.instruction', { number: first.instruction })} <code>{first.layer}</code></>}
        {' · '}{first.kind === 'execution' ? <span lang="en">{first.what}</span> : <code>{first.what}</code>}
      </p>
      {both && (
        <dl className="facts">
          <div><dt>{counter ? t('validation.estimated') : t('validation.expected')}</dt><dd>{plain(first.estimated ?? 0, 7)}</dd></div>
          <div><dt>{t('validation.executed')}</dt><dd>{plain(first.executed ?? 0, 7)}</dd></div>
          <div><dt>{t('validation.difference')}</dt><dd className="differs">{signed((first.executed ?? 0) - (first.estimated ?? 0))}</dd></div>
        </dl>
      )}
    </div>
  );
}

export const signed = (value: number) => (value > 0 ? `+${plain(value, 7)}` : plain(value, 7));
