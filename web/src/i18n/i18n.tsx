// The words of the dashboard in two languages; the key type makes a missing word a compile error.
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import en from './en.json';
import ja from './ja.json';

export type Key = keyof typeof en;
export type Language = 'en' | 'ja';
export type Translate = (key: Key, values?: Record<string, string | number>) => string;

const words: Record<Language, Record<Key, string>> = { en, ja };
const storageKey = 'sdip.language';

/** The text of a key with `{name}` replaced by the values given. */
export function translate(language: Language, key: Key, values: Record<string, string | number> = {}): string {
  return words[language][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

interface Speech {
  language: Language;
  setLanguage: (language: Language) => void;
  t: Translate;
}

const SpeechContext = createContext<Speech | null>(null);

function initialLanguage(): Language {
  const stored = localStorage.getItem(storageKey);
  if (stored === 'en' || stored === 'ja') return stored;
  return navigator.language.startsWith('ja') ? 'ja' : 'en';
}

export function SpeechProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
    localStorage.setItem(storageKey, language);
  }, [language]);
  const speech = useMemo<Speech>(
    () => ({ language, setLanguage, t: (key, values) => translate(language, key, values) }),
    [language],
  );
  return <SpeechContext value={speech}>{children}</SpeechContext>;
}

export function useSpeech(): Speech {
  const speech = useContext(SpeechContext);
  if (!speech) throw new Error('useSpeech stands outside SpeechProvider');
  return speech;
}

/** A word for a name the server sent (a state, a limiter), or the name itself when there is none. */
export function wordFor(t: Translate, prefix: string, name: string): string {
  const key = `${prefix}.${name}`;
  return key in en ? t(key as Key) : name;
}
