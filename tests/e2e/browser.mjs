// A headless Chromium whose pages refuse to go unwatched: console, page errors and requests are recorded.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

/**
 * A page in its own context. `complaints` gathers console errors and warnings, page errors and every request to
 * another origin. A refusal that a test provokes is announced with `expectRefusal(status)`: Chromium logs each as an error.
 */
export async function openPage(browser, origin, { language = 'en', theme = 'light', width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce' });
  await context.addInitScript(([lang, look]) => {
    if (localStorage.getItem('sdip.language') === null) localStorage.setItem('sdip.language', lang);
    if (localStorage.getItem('sdip.theme') === null) localStorage.setItem('sdip.theme', look);
  }, [language, theme]);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints = [];
  const refusals = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const expected = refusals.findIndex((status) => message.text().includes(`status of ${status}`));
    if (expected >= 0) refusals.splice(expected, 1);
    else complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:')) complaints.push(`request elsewhere: ${url}`);
  });
  return { page, context, complaints, expectRefusal: (status) => refusals.push(status) };
}

/** A page of its own for `body(page, tab)`, which must leave no complaints. */
export async function withPage(world, options, body) {
  const tab = await openPage(world.browser, world.origin, options);
  try {
    await body(tab.page, tab);
    assert.deepEqual(tab.complaints, []);
  } finally {
    await tab.context.close();
  }
}

/** Waits until nothing on the page is a placeholder, or awaits an answer. The page asks for a sign of life each second: its network is never idle for long. */
export const settled = (page) => page.waitForFunction(() => !document.querySelector('.skeleton, [aria-busy=true]'), null, { timeout: 60_000 });

/** What axe-core finds against WCAG 2.2 A and AA on the page as it stands. */
export async function violations(page) {
  const { source } = require('axe-core');
  await page.evaluate(source);
  const result = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return result.violations.map((one) => `${one.id}: ${one.help} (${one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join('; ')})`);
}
