// A sweep while it runs: how far, how fast, how long still; and what can be done about it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { answer, client } from '../api/client';
import { isLive, useKeptPoints } from '../api/queries';
import type { Sweep } from '../api/types';
import { defaultPreset } from '../form/values';
import { duration, percent, plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { useServerGone } from '../state/connection';
import { useQueryState } from '../state/location';
import { ErrorBox } from '../ui/basics';
import { FrontLine } from '../validation/front_line';
import { formulasOf, queryOf } from './formulas';
import { Origin, Revise } from './revise';
import { roundedUp, secondsLeft, type Sample } from './remaining';
import { SweepState } from './sweep_state';

export function SweepHead({ sweep }: { sweep: Sweep }) {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const path = { params: { path: { id: sweep.id } } };
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['sweep', sweep.id] });
    await queries.invalidateQueries({ queryKey: ['sweeps'] });
  };
  const cancel = useMutation({ mutationFn: () => answer(client.POST('/api/v1/sweeps/{id}/cancel', path)), onSuccess: refresh });
  const resume = useMutation({ mutationFn: () => answer(client.POST('/api/v1/sweeps/{id}/resume', path)), onSuccess: refresh });
  const remove = useMutation({
    mutationFn: () => answer(client.DELETE('/api/v1/sweeps/{id}', path)),
    onSuccess: async () => { navigate('/'); await queries.invalidateQueries({ queryKey: ['sweeps'] }); },
  });
  const anew = useMutation({
    mutationFn: () => answer(client.POST('/api/v1/sweeps', { body: sweep.spec })),
    onSuccess: async (started) => { navigate(`/sweeps/${started.id}`); await queries.invalidateQueries({ queryKey: ['sweeps'] }); },
  });
  const [lines] = useQueryState('formulas', '');
  const live = isLive(sweep);
  const resumable = !sweep.engine_changed && (sweep.state === 'cancelled' || sweep.state === 'interrupted' || sweep.state === 'failed');
  const failure = cancel.error ?? resume.error ?? anew.error ?? remove.error;
  return (
    <header className="sweep-head">
      <div className="sweep-title">
        <h1>{sweep.name || t('sweep.number', { id: sweep.id })}</h1>
        <SweepState sweep={sweep} />
        <span className="muted"><code>{sweep.model}</code> · {t('form.preset')} <code>{sweep.spec.preset ?? defaultPreset}</code></span>
      </div>
      <div className="card-actions">
        {live && <button type="button" onClick={() => cancel.mutate()} disabled={cancel.isPending}>{t('action.cancel')}</button>}
        {resumable && <button type="button" className="primary" onClick={() => resume.mutate()} disabled={resume.isPending}>{t('action.resume')}</button>}
        {sweep.engine_changed && !live && <button type="button" className="primary" onClick={() => anew.mutate()} disabled={anew.isPending}>{t('action.anew')}</button>}
        <a className="button" href={`/api/v1/sweeps/${sweep.id}/export?${new URLSearchParams([['format', 'csv'], ...asked(sweep, lines)])}`} download>{t('action.csv')}</a>
        <a className="button" href={`/api/v1/sweeps/${sweep.id}/export?${new URLSearchParams([['format', 'csv'], ['front', 'true'], ...asked(sweep, lines)])}`} download>{t('action.front_csv')}</a>
        <Revise sweep={sweep} />
        {!live && <button type="button" className="quiet" onClick={() => { if (confirm(t('sweep.delete_sure', { name: sweep.name || String(sweep.id) }))) remove.mutate(); }}>{t('action.delete')}</button>}
      </div>
      <dl className="facts">
        <div><dt>{t('sweep.evaluated')}</dt><dd>{plain(sweep.done)} / {plain(sweep.total)}</dd></div>
        <div><dt>{t('sweep.feasible')}</dt><dd>{plain(sweep.feasible)}{sweep.done > 0 && ` (${percent(sweep.feasible / sweep.done, 3)})`}</dd></div>
        <Origin sweep={sweep} />
        {sweep.unchecked > 0 && <div><dt>{t('sweep.unchecked')}</dt><dd>{plain(sweep.unchecked)}</dd></div>}
        {sweep.engine_changed && <div><dt>{t('sweep.engine')}</dt><dd><Engine signature={sweep.signature} /></dd></div>}
        {sweep.points_per_second !== null && sweep.points_per_second > 0 && <div><dt>{t('sweep.rate')}</dt><dd>{plain(Math.round(sweep.points_per_second))} /s</dd></div>}
        {sweep.state === 'running' && <Remaining sweep={sweep} />}
        {sweep.validation && <div><dt>{t('validation.front')}</dt><dd><FrontLine sweep={sweep.id} validation={sweep.validation} /></dd></div>}
        <KeptPoints sweep={sweep.id} />
        {sweep.spec.formats && <div><dt>{t('sweep.formats')}</dt><dd><pre className="rules">{sweep.spec.formats}</pre></dd></div>}
        <div><dt>{t('sweep.axes')}</dt><dd>{sweep.spec.axes.map((axis) => axis.parameter).join(' × ') || '–'}</dd></div>
        {sweep.spec.links && <div><dt>{t('sweep.links')}</dt><dd>{sweep.spec.links.map((link) => `${link.parameter} = ${link.formula}`).join(', ')}</dd></div>}
      </dl>
      {live && <progress className="run-progress" value={sweep.done} max={sweep.total} aria-label={t('sweep.progress')} />}
      {sweep.error && <div className="error-box" role="alert"><strong>{sweep.error.title}</strong><p lang="en">{sweep.error.detail}</p><code>{sweep.error.code}</code></div>}
      {failure && <ErrorBox error={failure} />}
    </header>
  );
}

const mostKeptShown = 12;

/** Ways to the points that somebody kept. */
function KeptPoints({ sweep }: { sweep: number }) {
  const { t } = useSpeech();
  const kept = useKeptPoints(sweep).data ?? [];
  if (kept.length === 0) return null;
  return (
    <div>
      <dt>{t('sweep.kept')}</dt>
      <dd>
        {kept.slice(0, mostKeptShown).map((one, i) => <span key={one.index}>{i > 0 && ', '}<Link href={`/sweeps/${sweep}/points/${one.index}`}>{one.index}</Link></span>)}
        {kept.length > mostKeptShown && ` ${t('sweep.kept_more', { count: plain(kept.length - mostKeptShown) })}`}
      </dd>
    </div>
  );
}

/** Says that another version computed the points; the whole signature shows under the pointer. */
function Engine({ signature }: { signature: string | null }) {
  const { t } = useSpeech();
  return <>{signature === null ? t('sweep.engine_unknown') : <code title={signature}>{signature.slice(0, 12)}</code>} – {t('sweep.engine_changed')}</>;
}

/** The formulas of the address, for the file to have them, too. */
const asked = (sweep: Sweep, lines: string) => formulasOf(sweep, lines).filter((one) => !one.own).map((one) => ['metric', queryOf(one)]);

const mostSamples = 200;

/** The time left for a sweep that runs, from what this page saw of it; said again each second while nothing comes. */
function Remaining({ sweep }: { sweep: Sweep }) {
  const { t } = useSpeech();
  const gone = useServerGone();
  const samples = useRef<Sample[]>([]);
  const [now, setNow] = useState(() => performance.now() / 1000);
  useEffect(() => {
    const last = samples.current[samples.current.length - 1];
    if (last?.done !== sweep.done) samples.current = [...samples.current.slice(-mostSamples), { at: performance.now() / 1000, done: sweep.done }];
  }, [sweep.done]);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now() / 1000), 500);
    return () => clearInterval(timer);
  }, []);
  const left = gone ? null : secondsLeft(samples.current, sweep.total, now);
  return <div><dt>{t('sweep.eta')}</dt><dd data-left>{left === null ? t('sweep.eta_unknown') : t('sweep.eta_about', { time: duration(roundedUp(left)) })}</dd></div>;
}
