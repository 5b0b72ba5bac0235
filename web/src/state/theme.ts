// Light, dark, or what the system says; remembered in this browser.
import { useEffect, useState, useSyncExternalStore } from 'react';

export type Theme = 'auto' | 'light' | 'dark';
const key = 'sdip.theme';
const media = () => matchMedia('(prefers-color-scheme: dark)');

export function storedTheme(): Theme {
  const value = localStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    applyTheme(theme);
    localStorage.setItem(key, theme);
    dispatchEvent(new Event('sdip-theme'));
  }, [theme]);
  return [theme, setTheme];
}

function subscribe(listener: () => void): () => void {
  const query = media();
  query.addEventListener('change', listener);
  addEventListener('sdip-theme', listener);
  return () => {
    query.removeEventListener('change', listener);
    removeEventListener('sdip-theme', listener);
  };
}

/** Whether the page is dark now: a canvas has no CSS variables of its own. */
export const useDark = () =>
  useSyncExternalStore(subscribe, () => {
    const theme = document.documentElement.dataset.theme;
    return theme ? theme === 'dark' : media().matches;
  });
