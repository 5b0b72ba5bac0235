// The place in the address: `#/path?query`. The server knows only `/`, so everything is behind the hash.
import { useCallback, useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
const notify = () => listeners.forEach((listener) => listener());

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('hashchange', notify);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('hashchange', notify);
  };
}

/** The path and the query of a hash: `#/a/b?c=d` is `/a/b` and `c=d`. */
export function splitHash(hash: string): { path: string; search: string } {
  const text = hash.replace(/^#?\/?/, '/');
  const mark = text.indexOf('?');
  return mark < 0 ? { path: text, search: '' } : { path: text.slice(0, mark), search: text.slice(mark + 1) };
}

export function go(to: string, options: { replace?: boolean } = {}): void {
  const { path, search } = splitHash(to);
  const url = `#${path}${search ? `?${search}` : ''}`;
  history[options.replace ? 'replaceState' : 'pushState'](null, '', url);
  notify();
}

const currentPath = () => splitHash(location.hash).path;
const currentSearch = () => splitHash(location.hash).search;

export const useHashSearch = () => useSyncExternalStore(subscribe, currentSearch);

/** The location hook that wouter's Router takes. */
export const useHashPath = Object.assign(
  (): [string, typeof go] => [useSyncExternalStore(subscribe, currentPath), go],
  { hrefs: (href: string) => `#${href}`, searchHook: useHashSearch },
);

/** One value kept in the address; the fallback is left out of it. */
export function useQueryState(name: string, fallback: string): [string, (value: string) => void] {
  const search = useHashSearch();
  const value = new URLSearchParams(search).get(name) ?? fallback;
  const set = useCallback((next: string) => setQuery({ [name]: next === fallback ? null : next }), [name, fallback]);
  return [value, set];
}

/** Changes several values of the address at once; null removes one. */
export function setQuery(changes: Record<string, string | null>): void {
  const { path, search } = splitHash(location.hash);
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(path + (text ? `?${text}` : ''), { replace: true });
}
