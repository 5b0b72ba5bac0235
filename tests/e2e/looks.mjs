// Every page in both languages and both themes: nothing on the console, nothing that axe-core objects to.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openPage, settled, violations } from './browser.mjs';

/** Where each page is, and what stands on it once it is drawn. */
const pages = (sweep, index, validation, search, front) => [
  ['results', '#/', '.scatter .front a'],
  ['points', `#/sweeps/${sweep}?view=points`, '.data-row'],
  ['point', `#/sweeps/${sweep}/points/${index}`, '.tile'],
  ['compare', '#/compare?model=tiny-sd', '.compare-table'],
  ['screen', '#/screen', '.machine-form'],
  ['what-if', '#/what-if?model=tiny-sd&set=cores:8', '.worst-layers details'],
  ['model', '#/models/tiny-sd', '.layer-tree-row'],
  ['new', '#/new', '.machine-form'],
  ['help', '#/help', '.glossary'],
  ['validate', '#/validate?model=tiny-sd', '.validation-list'],
  ['validation', `#/validations/${validation}`, '.data-row'],
  ['best', '#/best', '.machine-form'],
  ['best-search', `#/best/${search}`, '.machine-table'],
  ['best-front', `#/best/${front}`, '.scatter .front a'],
  ['revise', `#/sweeps/${sweep}`, '.scatter .front a'],
  ['fronts', `#/fronts?sweeps=${sweep}`, '.data-row'],
  ['front-validation', `#/sweeps/${sweep}/validation`, '.data-row'],
];

/** A validation that is done, and a sweep whose front was validated. */
async function validated(origin, sweep) {
  const api = `${origin}api/v1`;
  const { validations } = await (await fetch(`${api}/validations`)).json();
  const until = async (path, done) => {
    for (let k = 0; k < 600; ++k) {
      const answer = await (await fetch(`${api}${path}`)).json();
      if (done(answer)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail(`${path} did not end`);
  };
  await until(`/sweeps/${sweep}`, (one) => one.validation?.state === 'done');
  const found = validations.find((one) => one.state === 'done');
  if (found) return found.id;
  const body = JSON.stringify({ model: 'tiny-sd', machine: { cores: 2 } });
  const { id } = await (await fetch(`${api}/validations`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).json();
  await until(`/validations/${id}`, (one) => one.state === 'done');
  return id;
}

/** A search that is done, for one objective or several. */
async function searched(origin, objectives) {
  const api = `${origin}api/v1/searches`;
  const { searches } = await (await fetch(api)).json();
  const found = searches.find((one) => one.state === 'done' && one.request.objectives.length === objectives.length);
  if (found) return found.id;
  const body = JSON.stringify({ model: 'tiny-sd-text', objectives, constraints: ['throughput_fps >= 2'], evaluations: 2000, validate_seconds: 5 });
  const { id } = await (await fetch(api, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).json();
  for (let k = 0; k < 600; ++k) {
    if ((await (await fetch(`${api}/${id}`)).json()).state === 'done') return id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return assert.fail(`search ${id} did not end`);
}
const searches = async (origin) => [await searched(origin, ['min:area_mm2']), await searched(origin, ['min:area_mm2', 'throughput_fps'])];

async function anyPoint(origin) {
  const { sweeps } = await (await fetch(`${origin}api/v1/sweeps`)).json();
  assert.ok(sweeps.length > 0, 'there is no sweep to look at');
  const { rows } = await (await fetch(`${origin}api/v1/sweeps/${sweeps[0].id}/points?feasible=true&limit=1`)).json();
  return [sweeps[0].id, rows[0][0]];
}

/** Brings up what a page shows only when it is asked. */
async function opened(page, name) {
  if (name === 'revise') {
    await page.locator('.revise > summary').click();
    await page.locator('.revise-form .segments button').nth(1).click();
  }
  if (name === 'screen') {
    await page.locator('.model-picker > label select').selectOption('tiny-sd-text');
    await page.locator('[data-action=start-screening]').click();
    await page.locator('.interval-bars li').first().waitFor({ timeout: 60_000 });
  }
}

/** What is wrong with one page as it stands. */
async function faults(world, [name, place, sign], { language, theme, width }) {
  const { page, context, complaints } = await openPage(world.browser, world.origin, { language, theme, width });
  try {
    await page.goto(world.origin + place);
    await page.locator(sign).first().waitFor({ timeout: 60_000 });  // comparisons take long beside the C++ tests
    if (name === 'point') {
      await page.getByRole('tab').nth(1).click();
      await page.locator('.occupancy svg').first().waitFor();
    }
    await opened(page, name);
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.lang), language);
    const found = [...complaints, ...(await violations(page))];
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wider > 0) found.push(`the page is ${wider} px wider than the window`);
    await picture(page, `${name}-${language}-${theme}-${width}`);
    return found.map((one) => `${name}: ${one}`);
  } finally {
    await context.close();
  }
}

/** All pages, as many side by side as there are processors: axe-core keeps one busy for each page. */
async function look(world, language, theme, width) {
  const [sweep, index] = await anyPoint(world.origin);
  const validation = await validated(world.origin, sweep);
  const found = [];
  const left = pages(sweep, index, validation, ...(await searches(world.origin)));
  const walk = async () => {
    for (let page = left.shift(); page; page = left.shift()) found.push(...(await faults(world, page, { language, theme, width })));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, walk));
  assert.deepEqual(found, []);
}

/** Whether each page, and each view of it, fits a telephone: nothing stands out at the side. */
async function narrow(world, language, theme) {
  const [sweep, index] = await anyPoint(world.origin);
  const validation = await validated(world.origin, sweep);
  const more = [
    ['axes', `#/sweeps/${sweep}?x=dram_bytes_per_frame&y=cycles_over_bound&colour=throughput_fps`, '.scatter'],
    ['nowhere', '#/nowhere', '.empty'],
    ['infeasible', '#/what-if?model=sd15&set=psram_bytes:65536', '.warn-box'],
  ];
  const { page, context } = await openPage(world.browser, world.origin, { language, theme, width: 390, height: 844 });
  const found = [];
  try {
    for (const [name, place, sign] of [...pages(sweep, index, validation, ...(await searches(world.origin))), ...more]) {
      await page.goto(world.origin + place);
      await page.locator(sign).first().waitFor({ timeout: 60_000 });  // comparisons take long beside the C++ tests
      await opened(page, name);
      await settled(page);
      const views = name === 'revise' ? 1 : Math.max(1, await page.getByRole('tab').count());  // a menu covers the tabs
      for (let k = 0; k < views; k += 1) {
        if (k > 0) await page.getByRole('tab').nth(k).click();
        if (k > 0) await settled(page);
        const wider = await page.evaluate(standingOut);
        if (wider.length > 0) found.push(`${name} ${k}: ${wider.join('; ')}`);
        await picture(page, `${name}-${language}-${theme}-390${k > 0 ? `-${k}` : ''}`);
      }
    }
  } finally {
    await context.close();
  }
  assert.deepEqual(found, []);
}

/** What makes the page wider than the window, if anything does: the elements that end beyond it and do not scroll by themselves. */
function standingOut() {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const scrolled = (one) => { for (let at = one.parentElement; at; at = at.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true; return false; };
  const out = [...document.body.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5 && !scrolled(one));
  return [`${scrollWidth} px`, ...out.slice(0, 6).map((one) => `${one.tagName.toLowerCase()}.${one.getAttribute('class') ?? ''} ${(one.textContent ?? '').slice(0, 30)}`)];
}

/** With SDIP_SHOTS set, a picture of each page goes to that folder. */
async function picture(page, name) {
  if (!process.env.SDIP_SHOTS) return;
  mkdirSync(process.env.SDIP_SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SDIP_SHOTS, `${name}.png`), fullPage: true });
}

/** Each language, theme and width once; with SDIP_FULL set (./test --full) each beside each. */
const languagesAndThemes = process.env.SDIP_FULL
  ? ['en', 'ja'].flatMap((language) => ['light', 'dark'].map((theme) => [language, theme]))
  : [['en', 'light'], ['ja', 'dark']];
const lookedAt = process.env.SDIP_FULL
  ? languagesAndThemes.flatMap((both) => [1440, 800].map((width) => [...both, width]))
  : [['en', 'light', 1440], ['ja', 'dark', 800]];

export const looksTests = [
  ...lookedAt.map(([language, theme, width]) => [
    `every page is clean and accessible, ${language}, ${theme}, ${width} px wide`, (world) => look(world, language, theme, width),
  ]),
  ...languagesAndThemes.map(([language, theme]) => [
    `every page fits into 390 px, ${language}, ${theme}`, (world) => narrow(world, language, theme),
  ]),
  ['theme and language can be switched and are remembered', async (world) => {
    const { page, context, complaints } = await openPage(world.browser, world.origin);
    try {
      await page.goto(`${world.origin}#/help`);
      await page.getByRole('button', { name: 'Dark' }).click();
      await page.getByRole('button', { name: '日本語' }).click();
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'ヘルプ' }).waitFor();
      assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'dark');
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  }],
];
