// The sweeps the server knows, newest first, each with its state.
import { Link } from 'wouter';
import type { Sweep } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { SweepState } from './sweep_state';

export function SweepList({ sweeps, current }: { sweeps: Sweep[]; current: number | null }) {
  const { t, language } = useSpeech();
  const when = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return (
    <ul className="sweep-list">
      {sweeps.map((sweep) => (
        <li key={sweep.id}>
          <Link href={`/sweeps/${sweep.id}`} aria-current={sweep.id === current ? 'true' : undefined}>
            <span className="sweep-name">{sweep.name || t('sweep.number', { id: sweep.id })}</span>
            <SweepState sweep={sweep} />
            <span className="muted sweep-facts">
              <code>{sweep.model}</code> · {t('sweep.points', { count: plain(sweep.total) })} · {when.format(new Date(sweep.created))}
              {sweep.engine_changed && <> · {t('sweep.engine_other')}</>}
            </span>
            {sweep.done < sweep.total && <span className="mini-bar" aria-hidden="true"><span style={{ width: `${(sweep.done / Math.max(1, sweep.total)) * 100}%` }} /></span>}
          </Link>
        </li>
      ))}
    </ul>
  );
}
