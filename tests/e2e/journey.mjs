// One person's way: upload a model, sweep it, watch it finish, open a point, read its layers, compare, vary.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settled, withPage } from './browser.mjs';
import { openReluModel } from './onnx.mjs';
import { sdipBinary } from './start.mjs';

/** An ONNX file with weights absent, as the program itself writes it. */
function onnxFile(folder, model) {
  const path = join(folder, `my-${model}.onnx`);
  execFileSync(sdipBinary(), ['model', 'write', model, path], { stdio: 'pipe' });
  assert.ok(statSync(path).size > 0, `${path} is empty`);
  return path;
}

const sweepId = async (page) => Number(/#\/sweeps\/(\d+)/.exec(page.url())?.[1]);

export const journeyTests = [
  ['an empty store says so and offers a first sweep', (world) => withPage(world, {}, async (page) => {
    await page.goto(world.origin);
    const { sweeps } = await (await fetch(`${world.origin}api/v1/sweeps`)).json();
    if (sweeps.length > 0) return;
    await page.getByRole('heading', { name: 'No sweep yet' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'New sweep' }).click();
    await page.getByRole('heading', { level: 1, name: 'New sweep' }).waitFor();
  })],

  ['a file that is not ONNX is refused with its code', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    const path = join(world.server.folder, 'notes.onnx');
    writeFileSync(path, 'these are notes, not a model');
    expectRefusal(422);
    await page.goto(`${world.origin}#/new`);
    await page.setInputFiles('input[type=file]', path);
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    assert.match(await refusal.innerText(), /not_onnx|truncated/);
  })],

  ['a file dropped on the page is uploaded and chosen, by its name', (world) => withPage(world, {}, async (page) => {
    const path = onnxFile(world.server.folder, 'tiny-sd-unet');
    await page.goto(`${world.origin}#/new`);
    await page.locator('.upload').waitFor();
    const transfer = await page.evaluateHandle((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], 'dropped.onnx'));
      return data;
    }, readFileSync(path).toString('base64'));
    await page.dispatchEvent('.upload', 'drop', { dataTransfer: transfer });
    await page.getByText('dropped is ready').waitFor({ timeout: 60_000 });
    assert.equal(await page.locator('.model-picker > label select').inputValue(), 'dropped');
  })],

  ['a model with an open dimension asks for its size and takes it', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    const path = join(world.server.folder, 'open.onnx');
    writeFileSync(path, openReluModel());
    expectRefusal(422);
    await page.goto(`${world.origin}#/new`);
    await page.setInputFiles('input[type=file]', path);
    await page.getByRole('alert').getByText('unbound_dimension').waitFor();
    await page.getByLabel('width', { exact: true }).fill('3');
    await page.getByRole('button', { name: 'Upload with these' }).click();
    await page.getByText('open is ready').waitFor();
    const facts = await (await fetch(`${world.origin}api/v1/models/open`)).json();
    assert.deepEqual(facts.inputs[0].shape, [1, 3]);
    assert.deepEqual(facts.dims, { batch: 1, width: 3 });
  })],

  ['a model that depends on an input asks for its value beside sizes, and both are sent', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    const path = join(world.server.folder, 'asking.onnx');
    writeFileSync(path, openReluModel('Relu', ['batch', 4]));
    const sent = [];
    // As a server refuses whose model has a branch on `sr`; the second upload goes to it without that value.
    await page.route('**/api/v1/models/asking*', async (route) => {
      const url = new URL(route.request().url());
      sent.push(new URLSearchParams(url.search));
      const detail = 'a branch depends on the input sr';
      const refusal = { type: 'about:blank', title: 'input needed', status: 422, code: 'input_needed', where: 'asking: sr', detail, problems: [], unbound: [], unsupported: [], give: 'dim=batch=64&input=sr=VALUE' };
      if (sent.length === 1) await route.fulfill({ status: 422, contentType: 'application/problem+json', body: JSON.stringify(refusal) });
      else {
        url.searchParams.delete('input');
        await route.continue({ url: url.href });
      }
    });
    expectRefusal(422);
    await page.goto(`${world.origin}#/new`);
    await page.setInputFiles('input[type=file]', path);
    await page.getByRole('alert').getByText('input_needed').waitFor();
    assert.equal(await page.getByLabel('batch', { exact: true }).inputValue(), '64');
    await page.getByLabel('batch', { exact: true }).fill('3');
    await page.getByLabel('sr', { exact: true }).fill('16000');
    await page.getByRole('button', { name: 'Upload with these' }).click();
    await page.getByText('asking is ready').waitFor();
    assert.deepEqual([sent[1].getAll('dim'), sent[1].getAll('input')], [['batch=3'], ['sr=16000']]);
  })],

  ['an uploaded model is swept, its point is opened from the scatter and its layers are read', (world) => withPage(world, {}, async (page) => {
    const path = onnxFile(world.server.folder, 'tiny-sd-unet');
    await page.goto(`${world.origin}#/new`);
    await page.setInputFiles('input[type=file]', path);
    await page.getByText('my-tiny-sd-unet is ready').waitFor({ timeout: 60_000 });
    await page.getByLabel('Name', { exact: true }).fill('from the browser');
    assert.match(await page.locator('.big-count').innerText(), /^30 points/);
    await page.getByRole('button', { name: 'sweep core_clock_mhz' }).click();
    await page.getByLabel(/^Values of core_clock_mhz/).fill('500, 1000');
    assert.match(await page.locator('.big-count').innerText(), /^60 points/);
    await page.locator('[data-action=start-sweep]').click();

    await page.locator('.sweep-head [data-state=done]').waitFor({ timeout: 60_000 });
    const id = await sweepId(page);
    const sweep = await (await fetch(`${world.origin}api/v1/sweeps/${id}`)).json();
    assert.equal(sweep.done, 60);
    assert.ok(sweep.feasible > 0, 'no point of the sweep is feasible');
    assert.match(await page.locator('.sweep-head').innerText(), /60 \/ 60/);

    await page.locator('.scatter .front a').first().waitFor();
    await settled(page);
    const mark = page.locator('.scatter .front a').last();
    const index = Number(await mark.getAttribute('href').then((href) => /points\/(\d+)/.exec(href)[1]));
    await mark.click();
    await page.waitForURL(new RegExp(`#/sweeps/${id}/points/${index}`));
    await page.locator('.tile[data-metric=throughput_fps] .tile-value').waitFor();

    await page.getByRole('tab').nth(1).click();
    const table = page.getByRole('table', { name: /^Instructions: \d+/ });
    await table.waitFor();
    const point = await (await fetch(`${world.origin}api/v1/sweeps/${id}/points/${index}`)).json();
    const body = JSON.stringify({ model: sweep.model, machine: point.machine, instructions: true });
    const analysis = await (await fetch(`${world.origin}api/v1/analyses`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })).json();
    const first = analysis.stages[0].instructions[0];
    const row = await table.getByRole('row').nth(1).innerText();
    assert.ok(row.includes(first.name), `the first row is not ${first.name}: ${row}`);
    assert.ok(row.includes((first.end_cycle - first.start_cycle).toLocaleString('en-US')), `no cycles of ${first.name} in ${row}`);
    assert.equal(Number(await table.getAttribute('aria-rowcount')), analysis.stages[0].instructions.length + 1);
  })],

  ['a point is kept as it is, found again from its sweep, and let go of', (world) => withPage(world, {}, async (page) => {
    const { sweeps } = await (await fetch(`${world.origin}api/v1/sweeps`)).json();
    const { id } = sweeps.find((one) => one.state === 'done' && one.feasible > 0);
    const front = await (await fetch(`${world.origin}api/v1/sweeps/${id}/front`)).json();
    const index = front.rows[0][0];
    const kept = async () => (await (await fetch(`${world.origin}api/v1/sweeps/${id}/kept-points`)).json()).points.map((one) => one.index);
    await page.goto(`${world.origin}#/sweeps/${id}/points/${index}`);
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByText(/^Kept .* by engine/).waitFor();
    assert.deepEqual(await kept(), [index]);
    await page.goto(`${world.origin}#/sweeps/${id}`);
    await page.locator('.sweep-head').getByText('Kept points').waitFor();
    await page.locator('.sweep-head').getByRole('link', { name: String(index), exact: true }).click();
    await page.getByText(/^Kept .* by engine/).waitFor();
    await page.getByRole('tab').nth(1).click();
    await page.getByRole('table', { name: /^Instructions: \d+/ }).waitFor();
    await page.getByRole('button', { name: 'Let go' }).click();
    await page.getByRole('button', { name: 'Keep' }).waitFor();
    assert.deepEqual(await kept(), []);
  })],

  ['an axis under a condition is entered, counted once where it does not hold, and seen in the points', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/new`);
    await page.locator('.model-picker > label select').selectOption('tiny-sd-text');
    const before = Number((await page.locator('.big-count').innerText()).replace(/\D/g, ''));
    await page.getByRole('button', { name: 'sweep core_clock_mhz' }).click();
    await page.getByLabel(/^Values of core_clock_mhz/).fill('500, 750');
    const axis = page.locator('li.axis').filter({ hasText: 'core_clock_mhz' });
    await axis.getByLabel('only where').fill('cores > 100000');
    assert.match(await page.locator('.big-count').innerText(), new RegExp(`^≤ ${2 * before} points`));
    await axis.getByLabel('only where').fill('cores > 4');
    await page.locator('[data-action=start-sweep]').click();
    await page.locator('.sweep-head [data-state=done]').waitFor({ timeout: 60_000 });
    const at = `${world.origin}api/v1/sweeps/${await sweepId(page)}`;
    const sweep = await (await fetch(at)).json();
    const cores = sweep.spec.axes.find((one) => one.parameter === 'cores').values;
    const many = cores.filter((one) => one > 4).length;
    assert.ok(many > 0 && many < cores.length, `cores ${cores}`);
    assert.equal(sweep.spec.axes.find((one) => one.parameter === 'core_clock_mhz').when, 'cores > 4');
    assert.equal(sweep.total, (before / cores.length) * (cores.length + many));
    assert.ok((await page.locator('.sweep-head').innerText()).includes(`${sweep.total} / ${sweep.total}`));
    for (let index = 0; index < sweep.total; index += 1) {
      const { machine } = await (await fetch(`${at}/points/${index}`)).json();
      assert.equal(machine.core_clock_mhz === 500 || machine.core_clock_mhz === 750, machine.cores > 4, `point ${index}`);
    }
  })],

  ['a row follows another in every point, as the form says', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/new`);
    await page.locator('.model-picker > label select').selectOption('tiny-sd-text');
    await page.getByLabel('Rows that follow others').fill('psram_port_bits = 128 * cores');
    await page.locator('[data-action=start-sweep]').click();
    await page.locator('.sweep-head [data-state=done]').waitFor({ timeout: 60_000 });
    const at = `${world.origin}api/v1/sweeps/${await sweepId(page)}`;
    assert.deepEqual((await (await fetch(at)).json()).spec.links, [{ parameter: 'psram_port_bits', formula: '128 * cores' }]);
    const { machine } = await (await fetch(`${at}/points/7`)).json();
    assert.equal(machine.psram_port_bits, 128 * machine.cores);
  })],

  ['the fronts of two sweeps are one: how much is of each, and its points open', (world) => withPage(world, {}, async (page) => {
    const { sweeps } = await (await fetch(`${world.origin}api/v1/sweeps`)).json();
    const two = sweeps.filter((one) => one.model === 'tiny-sd-text' && one.feasible > 0).slice(0, 2).map((one) => one.id);
    assert.equal(two.length, 2);
    await page.goto(world.origin);
    await page.getByRole('link', { name: 'Front of several sweeps' }).click();
    await page.goto(`${world.origin}#/fronts?sweeps=${two[0]}`);
    await page.locator('.data-row').first().waitFor();
    const boxes = page.getByRole('group', { name: 'Sweeps' }).getByRole('checkbox');
    assert.equal(await boxes.and(page.locator(':checked')).count(), 1);
    await page.goto(`${world.origin}#/fronts?sweeps=${two.join(',')}`);
    await page.waitForFunction(() => document.querySelectorAll('.sweep-choice input:checked').length === 2);
    const front = await (await fetch(`${world.origin}api/v1/fronts?sweeps=${two.join(',')}`)).json();
    await settled(page);
    for (const part of front.sweeps) await page.getByText(`${part.points} of its ${part.own} front points`).first().waitFor();
    assert.equal(await page.locator('.scatter .front a').count(), front.points.length);
    await page.locator('.chart-controls select').nth(1).selectOption('energy_j_per_frame');
    const chosen = await (await fetch(`${world.origin}api/v1/fronts?sweeps=${two.join(',')}&metrics=energy_j_per_frame,area_mm2`)).json();
    await page.getByText(`Pareto front: ${chosen.points.length} points`).first().waitFor();
    assert.match(await page.evaluate(() => location.hash), /metrics=energy_j_per_frame%2Carea_mm2/);
    await page.goto(`${world.origin}#/fronts?sweeps=${two.join(',')}`);
    await page.getByText(`Pareto front: ${front.points.length} points`).first().waitFor();
    await page.locator('.data-row a').first().click();
    const first = front.points[0];
    assert.ok((await page.evaluate(() => location.hash)).startsWith(`#/sweeps/${first.sweep}/points/${first.index}`));
  })],

  ['a click on a point of the canvas opens that point', (world) => withPage(world, {}, async (page) => {
    await page.goto(world.origin);
    const mark = page.locator('.scatter .front a').first();
    await mark.waitFor();
    await settled(page);
    const box = await page.locator('.scatter canvas').boundingBox();
    const dot = await mark.locator('.mark').boundingBox();
    assert.ok(box && dot, 'the scatter has no size');
    // Beside the mark's own target and within reach of the dot under it: the canvas decides what is meant.
    await page.mouse.move(dot.x + dot.width / 2, dot.y + dot.height / 2);
    await page.locator('.scatter .tooltip').waitFor();
    assert.match(await page.locator('.scatter .tooltip').innerText(), /throughput_fps/);
    await page.mouse.click(dot.x + dot.width / 2, dot.y + dot.height / 2);
    await page.waitForURL(/#\/sweeps\/\d+\/points\/\d+/);
  })],

  ['the arrow keys walk the front and Enter opens its point', (world) => withPage(world, {}, async (page) => {
    await page.goto(world.origin);
    const marks = page.locator('.scatter .front a');
    await marks.first().waitFor();
    await marks.first().focus();
    await page.keyboard.press('ArrowRight');
    const label = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    assert.match(label ?? '', /^Point \d+: /);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#\/sweeps\/\d+\/points\/\d+/);
  })],

  ['a finished sweep says that its front was validated, and shows each point of it', (world) => withPage(world, {}, async (page) => {
    const { sweeps } = await (await fetch(`${world.origin}api/v1/sweeps`)).json();
    await page.goto(`${world.origin}#/sweeps/${sweeps[0].id}`);
    await page.locator('.front-line [data-verdict=pass]').waitFor({ timeout: 180_000 });
    const { summary, points } = await (await fetch(`${world.origin}api/v1/sweeps/${sweeps[0].id}/validation`)).json();
    assert.equal(summary.differences, 0);
    assert.ok(summary.points_covered > 0, 'no point of the front was covered');
    assert.ok((await page.locator('.front-line').innerText()).includes(`${summary.points_covered} of ${summary.points} points`));
    await page.locator('.front-line a').click();
    await page.waitForURL(/#\/sweeps\/\d+\/validation/);
    const table = page.getByRole('table', { name: /^Pareto front|front/i }).first();
    await table.waitFor();
    assert.equal(Number(await table.getAttribute('aria-rowcount')), points.length + 1);
  })],

  ['a machine is validated: every counter of every instruction stands there twice, equal', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/validate?model=tiny-sd&set=cores:4`);
    await page.locator('[data-action=start-validation]').click();
    await page.waitForURL(/#\/validations\/\d+/);
    await page.locator('.page-title [data-verdict=pass]').waitFor({ timeout: 180_000 });
    const id = Number(/validations\/(\d+)/.exec(page.url())[1]);
    const { result } = await (await fetch(`${world.origin}api/v1/validations/${id}`)).json();
    assert.equal(result.machine.cores, 4);
    assert.equal(result.coverage.instructions_compared, result.coverage.instructions);
    assert.ok(result.coverage.classes_executed > 0, 'no layer was executed');
    assert.match(await page.locator('.pass-box').innerText(), new RegExp(result.coverage.values.toLocaleString('en-US')));
    // Another stage, by the keyboard.
    const last = result.stages[result.stages.length - 1];
    await page.locator('.stages-table').getByRole('button', { name: last.name }).focus();
    await page.keyboard.press('Enter');
    const table = page.getByRole('table', { name: `Instructions: ${last.index.length}` });
    await table.waitFor();
    const ends = result.counters.findIndex((one) => one.name === 'end_cycle');
    const pass = last.passes[last.passes.length - 1];
    const row = await table.getByRole('row').nth(1).innerText();
    const cycles = pass.instructions_executed[0][ends].toLocaleString('en-US');
    assert.equal(row.split(/\s+/).filter((cell) => cell === cycles).length >= 2, true, `${cycles} does not stand twice in ${row}`);
    await page.getByRole('button', { name: 'SRAM beats' }).click();
    await table.getByRole('columnheader', { name: /PSRAM reads . executor/ }).waitFor();
  })],

  ['a difference is shown first, with both numbers, and its instruction is marked', (world) => withPage(world, {}, async (page) => {
    const { validations } = await (await fetch(`${world.origin}api/v1/validations`)).json();
    const id = validations.find((one) => one.state === 'done').id;
    // The server's own answer with one count altered.
    await page.route(`**/api/v1/validations/${id}`, async (route) => {
      const validation = await (await route.fetch()).json();
      const stage = validation.result.stages[0];
      const pass = stage.passes[stage.passes.length - 1];
      const r = validation.result.counters.findIndex((one) => one.name === 'psram_read_beats');
      pass.instructions_executed[2][r] += 5;
      pass.executed[r] += 5;
      stage.differences = validation.result.coverage.differences = validation.summary.coverage.differences = 2;
      validation.result.verdict = validation.summary.verdict = 'differs';
      validation.result.first_difference = {
        kind: 'counter', stage: stage.name, pass: pass.number, instruction: 2, layer: stage.layers[2], what: 'psram_read_beats',
        estimated: pass.instructions_estimated[2][r], executed: pass.instructions_executed[2][r],
      };
      await route.fulfill({ json: validation });
    });
    await page.goto(`${world.origin}#/validations/${id}`);
    const box = page.getByRole('alert');
    await box.waitFor();
    assert.match(await box.innerText(), /psram_read_beats/);
    assert.match(await box.innerText(), /\+5/);
    await page.locator('.page-title [data-verdict=differs]').waitFor();
    await page.getByLabel('Only those that differ').check();
    await page.getByRole('table', { name: 'Instructions: 1' }).waitFor();
    await page.getByRole('button', { name: 'SRAM beats' }).click();
    assert.equal(await page.locator('.data-row.marked .differs').count(), 2);
    if (process.env.SDIP_SHOTS) await page.screenshot({ path: join(process.env.SDIP_SHOTS, 'difference.png'), fullPage: true });
  })],

  ['all points can be sorted, and the choice is in the address', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/?view=points`);
    await page.getByRole('columnheader', { name: 'throughput_fps' }).getByRole('button').click();
    await page.waitForURL(/sort=-throughput_fps/);
    await settled(page);
    const { sweeps } = await (await fetch(`${world.origin}api/v1/sweeps`)).json();
    const best = await (await fetch(`${world.origin}api/v1/sweeps/${sweeps[0].id}/points?sort=-throughput_fps&limit=1`)).json();
    await page.getByRole('table').getByRole('row').nth(1).getByRole('link', { name: String(best.rows[0][0]), exact: true }).waitFor();
  })],

  ['a limit greys out what breaks it and counts what is left', (world) => withPage(world, {}, async (page) => {
    await page.goto(world.origin);
    await page.locator('.scatter .front a').first().waitFor();
    await page.getByLabel('Most area_mm2').fill('0.000001');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(/^0 of \d+ points meet this/).waitFor();
    await page.getByRole('button', { name: /^area_mm2 ≤/ }).click();
    await page.locator('.scatter .front a').first().waitFor();
  })],

  ['a formula becomes a metric: an axis with a front, a colour, a limit, a column of the file; what is none is told', (world) => withPage(world, {}, async (page, tab) => {
    tab.expectRefusal(422);
    await page.goto(world.origin);
    await page.locator('.scatter .front a').first().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('per_watt');
    await page.getByLabel('Formula over metrics and parameters').fill('throughput_fps / power_v');
    await page.getByRole('button', { name: 'Add formula' }).click();
    await page.getByText(/per_watt, column 18: no metric and no parameter power_v/).waitFor();
    await page.getByLabel('Formula over metrics and parameters').fill('throughput_fps / power_w');
    await page.getByLabel('Unit', { exact: true }).fill('frame/J');
    await page.getByLabel('What is better').selectOption('higher');
    await page.getByRole('button', { name: 'Add formula' }).click();
    await page.getByRole('button', { name: /^per_watt ↑/ }).waitFor();
    for (const y_or_colour of [0, 2]) await page.locator('.chart-controls select').nth(y_or_colour).selectOption('per_watt');
    await settled(page);
    await page.locator('.scatter .front a').first().waitFor();
    await page.getByText(/points are on the front of per_watt and/).waitFor();
    await page.getByLabel('Metric to limit').selectOption('per_watt');
    await page.getByLabel('Least per_watt').fill('1e9');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(/^0 of \d+ points meet this/).waitFor();
    await page.getByRole('button', { name: /^per_watt ≥/ }).click();
    const file = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href');
    const csv = await (await fetch(new URL(file, world.origin))).text();
    assert.match(csv.split('\n')[0], /,per_watt \[frame\/J\],sqnr_db/);
    await page.reload();
    await page.locator('.scatter .front a').first().waitFor();
    await page.getByRole('tab', { name: 'All points' }).click();
    await page.getByRole('columnheader', { name: 'per_watt' }).waitFor();
    await page.getByRole('button', { name: /^per_watt ↑/ }).click();
    await page.getByRole('button', { name: /^per_watt ↑/ }).waitFor({ state: 'detached' });
    assert.doesNotMatch(page.url(), /per_watt/);
  })],

  ['a sweep with constraints of its own draws the front of what keeps them', (world) => withPage(world, {}, async (page) => {
    const api = `${world.origin}api/v1/sweeps`;
    const axes = [{ parameter: 'cores', values: [1, 2, 4] }];
    const spec = { name: 'constrained', model: 'tiny-sd', axes, metrics: { loss: '1 / latency_s' }, objectives: ['min:loss', 'area_mm2'], constraints: ['cores <= 2'], validate_seconds: 0 };
    const { id } = await (await fetch(api, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(spec) })).json();
    while ((await (await fetch(`${api}/${id}`)).json()).state !== 'done') await page.waitForTimeout(50);
    await page.goto(`${world.origin}#/sweeps/${id}`);
    await page.getByText('2 of 3 points meet this').waitFor();
    await page.locator('.scatter .front a').first().waitFor();
    const { rows } = await (await fetch(`${api}/${id}/front`)).json();
    assert.equal(await page.locator('.scatter .front a').count(), rows.length);
    assert.equal((await fetch(`${api}/${id}`, { method: 'DELETE' })).status, 204);
  })],

  ['every chart is a table as well', (world) => withPage(world, {}, async (page) => {
    await page.goto(world.origin);
    await page.locator('.scatter').waitFor();
    await page.getByRole('button', { name: 'Table', exact: true }).first().click();
    assert.ok((await page.locator('.plain-table tbody tr').count()) > 0, 'the table of the front is empty');
  })],

  ['a changed parameter moves the metrics at once, and the address keeps it', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/what-if?model=tiny-sd`);
    const tile = page.locator('.tile[data-metric=throughput_fps]');
    await tile.waitFor();
    const before = await tile.locator('.tile-value').innerText();
    await page.locator('#field-core_clock_mhz').fill('2000');
    await tile.locator('.delta').waitFor();
    await settled(page);
    assert.notEqual(await tile.locator('.tile-value').innerText(), before);
    assert.match(page.url(), /set=core_clock_mhz%3A2000/);
    await page.reload();
    await tile.locator('.delta').waitFor();
    assert.equal(await page.locator('#field-core_clock_mhz').inputValue(), '2000');
  })],

  ['what limits a machine is explained, and a change that would help is tried with the keys', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/what-if?model=tiny-sd`);
    const body = JSON.stringify({ model: 'tiny-sd' });
    const asked = (route) => fetch(`${world.origin}api/v1/${route}`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
    const said = await (await asked('explanations')).json();
    await page.locator('.verdict-line').waitFor();
    assert.ok((await page.locator('.verdict-line').innerText()).includes(said.pace));
    const first = said.worst[0];
    assert.ok((await page.locator('.worst-layers details').first().innerText()).includes(first.terms[0].numbers));
    await page.locator('#explanation-view-tab-layers').focus();
    await page.keyboard.press('ArrowRight');
    const tried = page.locator('.cheapest button').first();
    await tried.focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/set=/);
  })],

  ['the report on a model says what the API says', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/models/tiny-sd`);
    await page.getByRole('heading', { level: 1, name: 'tiny-sd', exact: true }).waitFor();
    const facts = await (await fetch(`${world.origin}api/v1/models/tiny-sd`)).json();
    assert.equal(await page.getByRole('tab').count(), facts.stages.length);
    await page.getByRole('tab').nth(1).click();
    const stage = facts.stages[1];
    const tree = page.getByRole('treegrid', { name: `Modules of ${stage.name}` });
    await tree.waitFor();
    const alive = await page.getByRole('region', { name: /^Alive at once/ }).innerText();
    for (const live of stage.report.live) assert.ok(alive.includes(live.node), `${live.node} is not in ${alive}`);
    assert.ok(page.url().endsWith(`stage=${stage.name}`), page.url());
  })],

  ['the modules of a model are walked with the keys, and found by name', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/models/tiny-sd-unet`);
    const tree = page.getByRole('treegrid');
    await tree.waitFor();
    const rows = tree.locator('[data-row]');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-row'));
    const before = await rows.count();
    await tree.locator('[tabindex="0"]').focus();
    assert.equal(await focused(), '');
    let at = '';
    for (let i = 0; i < before; i += 1) {
      await page.keyboard.press('ArrowDown');
      at = await focused();
      if (await page.locator(`[data-row="${at}"]`).getAttribute('aria-expanded') === 'false') break;
    }
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator(`[data-row="${at}"]`).getAttribute('aria-expanded'), 'true');
    assert.ok((await rows.count()) > before, 'nothing opened');
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), `${at}.0`);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await rows.count(), before);
    await page.keyboard.press('End');
    assert.equal(await focused(), await rows.last().getAttribute('data-row'));
    await page.keyboard.press('Home');
    assert.equal(await focused(), '');
    assert.equal(await tree.locator('[tabindex="0"]').count(), 1, 'one row is in the tab order');
    await page.getByLabel('Find a module').fill('Softmax');
    await page.getByText(/^\d+ found$/).waitFor();
    assert.match(await rows.last().innerText(), /Softmax/);
  })],

  ['everything in the way of a file is told at once', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    const path = join(world.server.folder, 'unknown.onnx');
    writeFileSync(path, openReluModel('Frobnicate'));
    expectRefusal(422);
    await page.goto(`${world.origin}#/models`);
    await page.setInputFiles('input[type=file]', path);
    const box = page.locator('.warn-box');
    await box.waitFor();
    assert.match(await box.innerText(), /Frobnicate/);
    assert.match(await box.innerText(), /width/);
  })],

  ['a value out of range is named and not sent', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/new`);
    await page.locator('#field-core_clock_mhz').fill('0');
    await page.getByText('Between 1 MHz and 10,000 MHz').waitFor();
    assert.equal(await page.locator('[data-action=start-sweep]').isDisabled(), true);
  })],

  ['the comparison names every baseline, predicted, bounded or unpublished, with sources and what was measured', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/compare?model=sd15`);
    for (const name of [/TPU v4/, /MN-Core 2/, /A100/]) await page.getByRole('rowheader', { name }).first().waitFor({ timeout: 60_000 });  // beside the C++ tests
    const { baselines } = await (await fetch(`${world.origin}api/v1/baselines`)).json();
    const machines = await page.locator('.compare-table .badge.model').count();
    const published = (kind) => baselines.filter((one) => one.kind === kind).length;
    assert.equal(await page.locator('.compare-table .badge.device').count(), published('device'));
    assert.equal(await page.locator('.compare-table .badge.roofline').count(), published('roofline') + machines / 2, 'ours have streams and bounds, too');
    for (const group of ['Model beside model', 'Bound beside bound']) await page.getByRole('rowheader', { name: group }).waitFor();
    await page.getByRole('heading', { name: 'Where SDIP loses' }).waitFor();
    const area = () => page.locator('.compare-table tbody tr', { hasText: 'NVIDIA V100' }).locator('td').nth(6).textContent();
    const before = await area();
    await page.getByLabel('Process').selectOption('n7');
    await page.getByText('All are drawn in n7').waitFor();
    await page.waitForFunction((old) => [...document.querySelectorAll('.compare-table tbody tr')].some((row) => row.textContent.includes('NVIDIA V100') && row.querySelectorAll('td')[6].textContent !== old), before);
    await page.getByLabel('Process').selectOption('');
    await page.getByText('Measured beside predicted').first().waitFor();
    await page.getByText(/Figures of NVIDIA A100 SXM 80 GB/).first().click();
    await page.getByRole('columnheader', { name: 'Source' }).first().waitFor();
  })],

  ['an address that names nothing says so', (world) => withPage(world, {}, async (page, { expectRefusal }) => {
    expectRefusal(404);
    await page.goto(`${world.origin}#/sweeps/999999`);
    await page.getByRole('alert').waitFor();
    await page.goto(`${world.origin}#/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  })],
];
