// Whether the server answers: every request says, and where none is made a heartbeat asks once a second.
import { useSyncExternalStore } from 'react';

export const beatMs = 1000;
/** A server that says nothing for so long is gone, as far as anybody at the page can tell. */
export const patienceMs = 900;

let gone = false;
const listeners = new Set<() => void>();

export function setGone(now: boolean): void {
  if (gone === now) return;
  gone = now;
  listeners.forEach((listener) => listener());
}

export const isGone = (): boolean => gone;

export function subscribeConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useServerGone = () => useSyncExternalStore(subscribeConnection, isGone);

/** Fetch that notes whether the server answered at all; an answer that refuses is one, and a request given up says nothing. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    setGone(false);
    return response;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) setGone(true);
    throw error;
  }
}

/** One beat: asks for a sign of life and waits so long at most. */
export async function beat(ask: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs);
  try {
    await ask(patience.signal);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Listens for the server's heart while the page is looked at; the result stops it. */
export function startHeartbeat(): () => void {
  let busy = false;
  const once = async () => {
    if (busy || document.hidden) return;
    busy = true;
    const alive = await beat((signal) => fetch('/healthz', { signal, cache: 'no-store' }));
    busy = false;
    setGone(!alive);
  };
  const now = () => void once();
  const timer = setInterval(now, beatMs);
  addEventListener('offline', now);
  addEventListener('online', now);
  document.addEventListener('visibilitychange', now);
  return () => {
    clearInterval(timer);
    removeEventListener('offline', now);
    removeEventListener('online', now);
    document.removeEventListener('visibilitychange', now);
  };
}
