// Formulas in symbols, with their numbers filled in, and what they come to.
import type { FilledTerm } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech, wordFor, type Translate } from '../i18n/i18n';

/** The frames of "period of 4 frames"; undefined of every other term, and of a period of one. */
const framesOf = (what: string): string | undefined => /^period of (\d+) frames$/.exec(what)?.[1];

/** A term's name: a resource's, or its own. */
export function termName(t: Translate, what: string): string {
  const count = framesOf(what);
  if (count !== undefined) return t('explain.period_of', { count });
  const own = wordFor(t, 'term', what);
  return own === what ? wordFor(t, 'limiter', what) : own;
}

export function Terms({ terms }: { terms: FilledTerm[] }) {
  const { t } = useSpeech();
  return (
    <dl className="terms">
      {terms.map((term) => (
        <div key={term.what} className={term.what === 'time' || term.what.startsWith('period') ? 'term main' : 'term'}>
          <dt>{termName(t, term.what)}</dt>
          <dd className="term-value">{plain(term.value)} {term.unit}</dd>
          <dd lang="en" className="term-formula" title={term.section}>
            <span className="muted">{term.formula}</span>
            {term.numbers !== '' && <code>= {term.numbers}</code>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
