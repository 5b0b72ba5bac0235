// Whether the server answers: what each outcome of a request says.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { beat, isGone, patienceMs, setGone, subscribeConnection, watchedFetch } from '../src/state/connection';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  setGone(false);
});
const answering = (reply: () => Promise<unknown>) => vi.stubGlobal('fetch', reply);

describe('a request', () => {
  test('that nobody answers says that the server is gone, one that is answered that it is back', async () => {
    const heard: boolean[] = [];
    const stop = subscribeConnection(() => heard.push(isGone()));
    answering(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(watchedFetch('/x')).rejects.toThrow(TypeError);
    answering(() => Promise.resolve(new Response('', { status: 503 })));
    await watchedFetch('/x');
    expect(heard).toEqual([true, false]);
    stop();
  });
  test('that is given up says nothing', async () => {
    answering(() => Promise.reject(new DOMException('', 'AbortError')));
    await expect(watchedFetch('/x')).rejects.toThrow();
    expect(isGone()).toBe(false);
  });
});

describe('a heartbeat', () => {
  test('is missed by a server that hangs, within its patience', async () => {
    vi.useFakeTimers();
    const hung = beat((signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
    await vi.advanceTimersByTimeAsync(patienceMs);
    expect(await hung).toBe(false);
  });
  test('is heard from one that answers', async () => expect(await beat(() => Promise.resolve())).toBe(true));
});
