// What matters to a figure, and sweeps made of others, as a person asks for them.
import assert from 'node:assert/strict';
import { settled, withPage } from './browser.mjs';

const api = (world, path, method = 'GET', body) =>
  fetch(`${world.origin}api/v1${path}`, { method, ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}) });

/** A sweep that is done. */
async function ended(world, id) {
  for (let k = 0; k < 600; ++k) {
    const sweep = await (await api(world, `/sweeps/${id}`)).json();
    if (sweep.state === 'done') return sweep;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return assert.fail(`sweep ${id} did not end`);
}

export const screenTests = [
  ['the rows that matter are found, drawn as sorted bars with intervals, and listed as a table', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/screen`);
    await page.locator('.model-picker > label select').selectOption('tiny-sd-text');
    await page.getByLabel('Find a parameter').fill('cores');
    await page.locator('.axis-toggle', { hasText: /cores$/ }).first().click();
    await page.getByLabel('Find a parameter').fill('core_clock_mhz');
    await page.locator('.axis-toggle', { hasText: 'core_clock_mhz' }).first().click();
    await page.getByRole('button', { name: 'Shares of variance (Sobol)' }).click();
    await page.getByRole('spinbutton', { name: 'Samples' }).fill('32');
    assert.equal(await page.locator('.big-count strong').innerText(), '128');
    await page.locator('[data-action=start-screening]').click();
    const bars = page.getByRole('list', { name: /^throughput_fps: share/ });
    await bars.waitFor({ timeout: 60_000 });
    await settled(page);
    const shown = await bars.locator('li').evaluateAll((rows) => rows.map((row) => ({ name: row.dataset.row, end: parseFloat(row.querySelector('.bar-fill').style.width), interval: parseFloat(row.querySelector('.bar-interval').style.width) })));
    const answer = await (await api(world, '/screenings', 'POST', {
      model: 'tiny-sd-text', method: 'sobol', samples: 32, measures: ['throughput_fps'],
      axes: [{ parameter: 'cores', values: await values(page, 'cores') }, { parameter: 'core_clock_mhz', values: await values(page, 'core_clock_mhz') }],
    })).json();
    assert.deepEqual(shown.map((one) => one.name), answer.measures[0].rows.map((one) => one.parameter));
    assert.ok(shown[0].end > shown[1].end && shown.every((one) => one.interval > 0), JSON.stringify(shown));
    const chart = page.locator('figure', { has: bars });
    await chart.getByRole('button', { name: 'Table' }).press('Enter');
    const table = page.getByRole('region', { name: /^throughput_fps: share/ });
    assert.equal(await table.getByRole('row').count(), 3);
    assert.equal(await table.getByRole('rowheader').first().innerText(), shown[0].name);
    await page.getByRole('button', { name: 'Effects (Morris)' }).click();
    await page.locator('[data-action=start-screening]').click();
    await page.getByRole('list', { name: /^throughput_fps: what each row does/ }).waitFor({ timeout: 60_000 });
    assert.match(await page.locator('[data-row=core_clock_mhz] .bar-value').first().innerText(), /± .*↑/);
  })],

  ['a sweep is extended and narrowed from its page, names its parent, and takes its points over', (world) => withPage(world, {}, async (page) => {
    const body = { model: 'tiny-sd-text', name: 'first of three', validate_seconds: 0, axes: [{ parameter: 'cores', values: [1, 2, 4] }, { parameter: 'core_clock_mhz', values: [500, 1000] }] };
    const { id } = await (await api(world, '/sweeps', 'POST', body)).json();
    await ended(world, id);
    await page.goto(`${world.origin}#/sweeps/${id}`);
    const open = async () => { await page.locator('.revise > summary').press('Enter'); };
    const made = async (from) => {
      await page.waitForFunction((before) => !location.hash.endsWith(`/sweeps/${before}`), from);
      return ended(world, Number(/sweeps\/(\d+)/.exec(page.url())[1]));
    };
    await open();
    await page.getByRole('button', { name: 'Extend', exact: true }).click();
    assert.ok(await page.locator('[data-action=revise]').isDisabled());
    await page.getByLabel('Axis', { exact: true }).selectOption('cores');
    await page.getByLabel('Values to add').fill('8, 1000000000');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Values to add').fill('8');
    await page.locator('.revise-form').getByLabel('Name', { exact: true }).fill('second of three');
    await page.locator('[data-action=revise]').click();
    const second = await made(id);
    assert.deepEqual([second.parent, second.total, second.taken, second.revision, second.name], [id, 8, 6, 2, 'second of three']);
    await page.locator('[data-origin]', { hasText: '6 points taken over' }).waitFor();
    await open();
    await page.getByRole('button', { name: 'Narrow', exact: true }).click();
    await page.getByLabel('Axis', { exact: true }).selectOption('core_clock_mhz');
    assert.match(await page.getByLabel('Values to keep').inputValue(), /500.*,.*1/);
    await page.getByLabel('Values to keep').fill('500');
    await page.getByLabel('Constraint').fill('area_mm2 <= 100000');
    await page.locator('[data-action=revise]').click();
    const third = await made(second.id);
    assert.deepEqual([third.parent, third.total, third.taken, third.spec.constraints], [second.id, 4, 4, ['area_mm2 <= 100000']]);
    await page.locator('[data-origin] a').click();
    await page.waitForURL(new RegExp(`#/sweeps/${second.id}$`));
    for (const one of [third.id, second.id, id]) assert.equal((await api(world, `/sweeps/${one}`, 'DELETE')).status, 204);
  })],
];

/** The values that the form gives an axis, as the API takes them. */
async function values(page, name) {
  const text = await page.getByLabel(`Values of ${name}`).inputValue();
  return text.split(',').map((one) => Number(one.replace(/[^\d.]/g, '')) * (/GHz/.test(one) ? 1000 : 1));
}
