// The search for the best machine, as a person asks for it and reads it.
import assert from 'node:assert/strict';
import { settled, withPage } from './browser.mjs';

const searchId = (page) => Number(/#\/best\/(\d+)/.exec(page.url())?.[1]);
const search = async (world, id) => (await fetch(`${world.origin}api/v1/searches/${id}`)).json();

async function filled(page, world, conditions) {
  await page.goto(`${world.origin}#/best`);
  await page.locator('.model-picker > label select').selectOption('tiny-sd-text');
  await page.getByLabel('Conditions, one on each line').fill(conditions);
}

export const bestTests = [
  ['the best machine is searched from a goal, told with what binds it, and opened as a design point', (world) => withPage(world, {}, async (page) => {
    await filled(page, world, 'throughput_fps >= 2\narea_mm2 <= 500');
    await page.getByRole('button', { name: 'Machines', exact: true }).click();
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('3000');
    await page.getByLabel('Find a parameter').fill('dram_kind');
    await page.getByRole('button', { name: 'fix dram_kind' }).click();
    await page.locator('.fixed-chips').getByRole('button', { name: /dram_kind/ }).waitFor();
    await page.locator('[data-action=start-search]').click();
    await page.waitForURL(/#\/best\/\d+/);
    await page.getByRole('heading', { name: 'The best machine' }).waitFor({ timeout: 60_000 });
    await settled(page);
    const { result, request } = await search(world, searchId(page));
    assert.deepEqual(request.constraints, ['throughput_fps >= 2', 'area_mm2 <= 500']);
    assert.deepEqual(Object.keys(request.fixed), ['dram_kind']);
    assert.equal(await page.locator('.machine-table tbody tr.changed').count(), Object.entries(result.best[0].settings).filter(([name]) => name !== 'dram_kind').length);
    await page.locator('[data-objectives] [data-verdict=pass]').waitFor();
    const steps = await page.getByRole('region', { name: /^What further area buys/ }).getByRole('row').count();
    assert.equal(steps, result.bought.length + 1);
    assert.ok((await page.getByRole('img', { name: /^Best so far/ }).getAttribute('aria-label')).includes(`after ${result.trace.length} improvements`));
    await page.getByRole('link', { name: 'Open', exact: true }).first().click();
    const tile = page.locator('.tile[data-metric=area_mm2] .tile-value');
    await tile.waitFor();
    await settled(page);
    const shown = Number((await tile.innerText()).replace(/[^\d.]/g, ''));
    assert.ok(Math.abs(shown / result.best[0].metrics.area_mm2 - 1) < 1e-3, `${shown} mm2 is not ${result.best[0].metrics.area_mm2}`);
  })],

  ['several workloads are searched for together, and each is told apart', (world) => withPage(world, {}, async (page) => {
    await filled(page, world, 'throughput_fps >= 1');
    await page.locator('[data-action=add-workload]').click();
    await page.getByLabel('Workload').selectOption('tiny-sd-vae-decoder');
    await page.getByLabel('Share of the images').first().fill('0');
    await page.getByText('Each share is a number above 0').waitFor();
    await page.getByLabel('Share of the images').first().fill('3');
    await page.getByRole('button', { name: 'Machines', exact: true }).click();
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('600');
    await page.locator('[data-action=start-search]').click();
    await page.waitForURL(/#\/best\/\d+/);
    await page.getByRole('heading', { name: 'The best machine' }).waitFor({ timeout: 60_000 });
    const { result, model } = await search(world, searchId(page));
    assert.equal(model, 'tiny-sd-text:3+tiny-sd-vae-decoder');
    assert.deepEqual(result.workloads.map((one) => one.weight), [3, 1]);
    await page.locator('[data-workload=tiny-sd-vae-decoder]').getByRole('link').click();
    await page.waitForURL(/#\/what-if\?.*model=tiny-sd-vae-decoder/);
  })],

  ['a search shows its best so far, is cancelled, and keeps what it had', (world) => withPage(world, {}, async (page) => {
    await filled(page, world, '');
    await page.getByRole('spinbutton', { name: 'Seconds', exact: true }).fill('3600');
    await page.locator('[data-action=start-search]').click();
    await page.locator('[data-so-far]').getByText(/area_mm2 \d/).waitFor();
    await page.locator('.trace-line').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('[data-state=cancelled]').waitFor();
    await page.getByRole('heading', { name: 'The best machine' }).waitFor();
    await page.getByText('not validated').waitFor();
    const id = searchId(page);
    const deleted = page.waitForResponse((response) => response.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Delete' }).click();
    assert.equal((await deleted).status(), 204);
    await page.getByRole('heading', { level: 1, name: 'Best machine' }).waitFor();
    assert.equal((await fetch(`${world.origin}api/v1/searches/${id}`)).status, 404);
  })],

  ['several goals give a front whose machines are chosen by row and shown', (world) => withPage(world, {}, async (page) => {
    await filled(page, world, '');
    await page.getByRole('button', { name: 'Add another: a front' }).click();
    await page.getByRole('button', { name: 'Machines', exact: true }).click();
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('2000');
    await page.getByRole('spinbutton', { name: 'Islands' }).fill('2');
    await page.locator('[data-action=start-search]').click();
    await page.locator('.scatter .front a').first().waitFor({ timeout: 60_000 });
    const { result } = await search(world, searchId(page));
    const table = page.getByRole('region', { name: 'The front: machines that none beats' });
    await table.getByRole('button', { name: '2', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The machine chosen' }).waitFor();
    const link = await page.getByRole('link', { name: 'Open', exact: true }).first().getAttribute('href');
    const set = new URLSearchParams(link.split('?')[1]).get('set');
    for (const [name, value] of Object.entries(result.best[1].settings)) assert.ok(set.includes(`${name}:${value}`), `${name} is not in ${set}`);
  })],

  ['an optimiser that finds fronts asks for a second goal, and evolves on islands', (world) => withPage(world, {}, async (page) => {
    await filled(page, world, '');
    await page.getByLabel('Optimiser').selectOption('nsga2');
    await page.getByText('This one needs two goals or more').waitFor();
    assert.equal(await page.locator('[data-action=start-search]').isDisabled(), true);
    await page.getByRole('button', { name: 'Add another: a front' }).click();
    await page.getByRole('spinbutton', { name: 'Islands' }).fill('2');
    await page.getByRole('button', { name: 'Machines', exact: true }).click();
    await page.getByRole('spinbutton', { name: 'Machines' }).fill('500');
    await page.locator('[data-action=start-search]').click();
    await page.locator('.scatter .front a').first().waitFor({ timeout: 60_000 });
    const { request, result } = await search(world, searchId(page));
    assert.deepEqual([request.optimiser, request.islands], ['nsga2', 2]);
    assert.ok(result.evaluated <= 500);
  })],

  ['a condition that is none is refused with its place', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    await filled(page, world, 'area_mm2 <');
    expectRefusal(422);
    await page.locator('[data-action=start-search]').click();
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    assert.match(await refusal.innerText(), /\/constraints\/0/);
  })],
];
