// Small parts that every page uses: errors, skeletons, empty states, swatches, tabs.
import type { ReactNode } from 'react';
import { problemOf } from '../api/client';
import { useSpeech } from '../i18n/i18n';

/** A refusal shown as it came: what, where, and its stable code. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { t } = useSpeech();
  const problem = problemOf(error);
  return (
    <div className="error-box" role="alert">
      <strong>{problem.code === 'unreachable' ? t('error.unreachable') : problem.title}</strong>
      <p lang="en">{problem.detail}</p>
      <p className="error-where">
        {problem.where !== '' && <code>{problem.where}</code>} <code className="muted">{problem.code}</code>
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          {t('action.retry')}
        </button>
      )}
    </div>
  );
}

export function Skeleton({ lines = 3, height }: { lines?: number; height?: number }) {
  const { t } = useSpeech();
  return (
    <div className="skeleton" role="status" aria-label={t('state.loading')}>
      {height !== undefined ? (
        <div style={{ height }} />
      ) : (
        Array.from({ length: lines }, (_, i) => <div key={i} style={{ width: `${92 - ((i * 23) % 40)}%` }} />)
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <svg width="56" height="40" viewBox="0 0 56 40" aria-hidden="true">
        <path d="M4 36h48M4 36V4" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
        <path d="M10 30c10 0 10-18 22-18s12-6 18-6" fill="none" stroke="currentColor" strokeWidth="2" strokeDasharray="3 4" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export const Swatch = ({ name }: { name: string }) => (
  <span className="swatch" style={{ background: `var(--c-${name}, var(--c-other))` }} aria-hidden="true" />
);

export interface TabItem {
  id: string;
  label: string;
}

/** A row of buttons of which one is on. */
export function Segments({ label, items, value, onChange }: {
  label: string; items: TabItem[]; value: string; onChange: (id: string) => void;
}) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {items.map((item) => (
        <button key={item.id} type="button" aria-pressed={item.id === value} onClick={() => onChange(item.id)}>
          {item.label}
        </button>
      ))}
    </div>
  );
}

/** Tabs in the manner of the ARIA practices: arrows move, one is in the tab order. */
export function Tabs({ label, items, value, onChange, controls }: {
  label: string; items: TabItem[]; value: string; onChange: (id: string) => void; controls: string;
}) {
  const move = (step: number) => {
    const at = items.findIndex((item) => item.id === value);
    const next = items[(at + step + items.length) % items.length];
    if (!next) return;
    onChange(next.id);
    document.getElementById(`${controls}-tab-${next.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {items.map((item) => (
        <button
          key={item.id} type="button" role="tab" id={`${controls}-tab-${item.id}`} aria-controls={controls}
          aria-selected={item.id === value} tabIndex={item.id === value ? 0 : -1}
          onClick={() => onChange(item.id)}
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') move(1);
            if (event.key === 'ArrowLeft') move(-1);
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}

export function Card({ title, actions, children, className = '' }: {
  title?: ReactNode; actions?: ReactNode; children: ReactNode; className?: string;
}) {
  return (
    <section className={`card ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <header className="card-head">
          {title !== undefined && <h2>{title}</h2>}
          {actions !== undefined && <div className="card-actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
