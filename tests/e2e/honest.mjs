// What the page must not do: name one point and open another, hide points, show old answers as new ones.
import assert from 'node:assert/strict';
import { openPage, settled } from './browser.mjs';

const json = { 'Content-Type': 'application/json' };

/** A finished sweep of tiny-sd over these axes. */
async function swept(world, name, axes) {
  const api = `${world.origin}api/v1/sweeps`;
  const known = (await (await fetch(api)).json()).sweeps.find((one) => one.name === name);
  const { id } = known ?? (await (await fetch(api, { method: 'POST', headers: json, body: JSON.stringify({ name, model: 'tiny-sd', preset: 'stream', machine: { dies: 1 }, axes, objectives: ['throughput_fps', 'area_mm2'] }) })).json());
  for (let k = 0; k < 600; ++k) {
    const sweep = await (await fetch(`${api}/${id}`)).json();
    if (sweep.state === 'done' && !sweep.measuring_accuracy) return sweep;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return assert.fail(`the sweep ${name} did not end`);
}

/** Half of the points are int8, and they have the lower numbers or the higher ones. */
const formats = (world) => swept(world, 'half int8', [
  { parameter: 'weight_format', values: ['fp16', 'int8'] }, { parameter: 'cores', values: [1, 2, 4, 5] },
  { parameter: 'conv_lanes_in', values: [4, 8, 12, 16, 24, 32] }, { parameter: 'vector_lanes', values: [64, 96, 128, 192, 256] },
]);
const nothing = (world) => swept(world, 'nothing fits', [
  { parameter: 'cores', values: [1, 2, 4] }, { parameter: 'dsram_bytes', values: [1024, 2048] }, { parameter: 'psram_bytes', values: [1024] },
]);

async function withPage(world, options, body) {
  const tab = await openPage(world.browser, world.origin, options);
  try {
    await body(tab.page, tab);
  } finally {
    await tab.context.close();
  }
}

async function openScatter(page, world, id) {
  await page.goto(`${world.origin}#/sweeps/${id}`);
  await page.locator('.scatter .front a').first().waitFor();
  await settled(page);
}

/** Middles of all front marks, and the numbers of their points. */
const marksOn = (page) => page.locator('.scatter .front a').evaluateAll((marks) => marks.map((mark) => {
  const { x, y, width, height } = mark.querySelector('.mark').getBoundingClientRect();
  return { x: x + width / 2, y: y + height / 2, point: Number(/points\/(\d+)/.exec(mark.getAttribute('href'))[1]) };
}));

const named = async (page) => Number(await page.locator('.scatter .tooltip [data-point]').getAttribute('data-point'));

/** Waits until `told` is so and says how many milliseconds that took, measured in the page. */
const tookUntil = (page, act, told) => page.evaluate(`(async () => {
  const [act, told] = [${act}, ${told}];
  const start = performance.now();
  act();
  while (!told()) {
    if (performance.now() - start > 10_000) return Infinity;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - start;
})()`);

const typeClock = () => {
  const field = document.querySelector('#field-core_clock_mhz');
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  set.call(field, String(Number(field.value) * 2));
  field.dispatchEvent(new Event('input', { bubbles: true }));
};
const marked = () => document.querySelector('.what-if [data-outdated=true] .outdated-note') !== null;
const toldGone = () => document.querySelector('.server-gone') !== null;

/** A machine that does other work at once takes up to three times as long. */
const within = (most, took, what) => assert.ok(took <= 3 * most, `it took ${Math.round(took)} ms ${what}`);

/** The rates that the roofs of the roofline on the page stand for. */
const roofsOn = async (page) => {
  await page.locator('.roofline [data-macs-per-cycle]').first().waitFor({ state: 'attached' });  // a level line has no height to be seen by
  return page.locator('.roofline').evaluate((chart) => ({
    channel: Number(chart.querySelector('[data-bytes-per-cycle]').dataset.bytesPerCycle),
    arrays: [...chart.querySelectorAll('[data-macs-per-cycle]')].map((roof) => Number(roof.dataset.macsPerCycle)),
  }));
};

/** What an explanation says of the roofs of its stage: each is some layer's, and no layer's is higher. */
function expectRoofs(drawn, said, stage, where) {
  assert.equal(drawn.channel, said.stages[stage].dram_bytes_per_cycle, `${where}: DRAM`);
  const arrays = said.layers.filter((one) => one.stage === stage && one.lane_macs > 0).map((one) => one.array_macs_per_cycle);
  for (const roof of drawn.arrays) assert.ok(arrays.includes(roof), `${where}: no layer has the roof ${roof}, but ${[...new Set(arrays)]}`);
  assert.equal(Math.max(...drawn.arrays), Math.max(...arrays), where);
}

const fps = (page) => page.locator('.tile[data-metric=throughput_fps] .tile-value').innerText();

export const honestTests = [
  ['each roof of a roofline is what the explanation says of it, on every preset', (world) => withPage(world, {}, async (page) => {
    const explained = async (model, preset) =>
      (await fetch(`${world.origin}api/v1/explanations`, { method: 'POST', headers: json, body: JSON.stringify({ model, preset, layers: 0 }) })).json();
    const { presets } = await (await fetch(`${world.origin}api/v1/presets`)).json();
    const channels = new Set();
    for (const { name: preset } of presets) {
      let model = 'tiny-sd';
      let said = await explained(model, preset);
      if (!said.feasible) said = await explained(model = 'pynq-attention', preset);
      assert.ok(said.feasible, `${preset} runs nothing: ${said.reason}`);
      const drawing = said.stages.map((_, stage) => stage).filter((stage) => said.layers.some((one) => one.stage === stage && one.lane_macs > 0));
      assert.ok(drawing.length > 0, `${preset} has no stage with products`);
      const design = `model=${model}&preset=${preset}`;
      await page.goto(`${world.origin}#/what-if?${design}`);
      await page.locator('#explanation-view-tab-roofline').click();
      for (const stage of drawing) {
        const { name } = said.stages[stage];
        channels.add(said.stages[stage].dram_bytes_per_cycle);
        if (said.stages.length > 1) await page.locator('.explanation').getByRole('button', { name, exact: true }).click();
        await settled(page);
        expectRoofs(await roofsOn(page), said, stage, `what-if, ${preset}, ${name}`);
      }
      for (const stage of drawing) {
        const { name, role } = said.stages[stage];
        await page.goto(`${world.origin}#/compare?${design}&tab=stage-${role}`);
        await page.getByText(name, { exact: true }).first().waitFor();
        await settled(page);
        expectRoofs(await roofsOn(page), said, stage, `compare, ${preset}, ${name}`);
      }
    }
    assert.ok(channels.has(1 / 79), `no stage has the channel of the host: ${[...channels]}`);
  })],

  ['half of the points has half of the coloured pixels', (world) => withPage(world, {}, async (page) => {
    const sweep = await formats(world);
    await openScatter(page, world, sweep.id);
    const key = await page.locator('.colour-key').innerText();
    assert.match(key, /fp16: 120 points/);
    assert.match(key, /int8: 120 points/);
    const shares = await page.evaluate(() => {
      const colours = [...document.querySelectorAll('.colour-key .swatch')].slice(0, 2).map((one) => getComputedStyle(one).backgroundColor.match(/\d+/g).map(Number));
      const canvas = document.querySelector('.scatter canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const [a, b] = colours;
      const along = a.map((value, k) => b[k] - value);
      const length = along.reduce((sum, value) => sum + value * value, 0);
      let pixels = 0;
      let second = 0;
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 0) continue;
        pixels += 1;
        second += along.reduce((sum, value, k) => sum + value * (data[at + k] - a[k]), 0) / length;
      }
      return { pixels, second: second / pixels };
    });
    assert.ok(shares.pixels > 1000, `only ${shares.pixels} pixels are coloured`);
    assert.ok(shares.second > 0.4 && shares.second < 0.6, `int8 has ${shares.second} of the colour`);
  })],

  ['every point of the front has a mark, and a click opens what the tooltip names', (world) => withPage(world, {}, async (page) => {
    const sweep = await formats(world);
    const front = await (await fetch(`${world.origin}api/v1/sweeps/${sweep.id}/front`)).json();
    await openScatter(page, world, sweep.id);
    const marks = await marksOn(page);
    assert.equal(marks.length, front.rows.length);
    const step = Math.max(1, Math.floor(marks.length / 12));
    for (let k = 0; k < marks.length; k += step) {
      // A little beside the middle, where another mark may be as near.
      const [x, y] = [marks[k].x + (k % 3) * 2 - 2, marks[k].y + (k % 2) * 2];
      await page.mouse.move(x - 60, y + 60);
      await page.mouse.move(x, y);
      await page.locator('.scatter .tooltip').waitFor();
      const point = await named(page);
      await page.mouse.click(x, y);
      await page.waitForURL(new RegExp(`/points/${point}$`));
      await page.goBack();
      await page.locator('.scatter .front a').first().waitFor();
      await settled(page);
    }
  })],

  ['the arrow keys reach every point of the front, those under one mark too, each by its name', (world) => withPage(world, {}, async (page) => {
    const sweep = await formats(world);
    await openScatter(page, world, sweep.id);
    const marks = await marksOn(page);
    await page.locator('.scatter .front a').first().focus();
    await page.keyboard.press('Home');
    const seen = new Set();
    for (let k = 0; k < marks.length; ++k) {
      const label = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
      const point = await named(page);
      assert.ok(label.startsWith(`Point ${point}: `), `${label} is not ${point}`);
      seen.add(point);
      await page.keyboard.press('ArrowRight');
    }
    assert.equal(seen.size, marks.length);
    const last = await named(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/points/${last}$`));
  })],

  ['colours are linear until a logarithm is chosen, and the key says which', (world) => withPage(world, {}, async (page) => {
    const sweep = await formats(world);
    await page.goto(`${world.origin}#/sweeps/${sweep.id}?colour=throughput_fps`);
    const key = page.locator('.colour-key');
    await key.getByText('linear', { exact: true }).waitFor();
    await page.getByLabel('log colour').check();
    await key.getByText('logarithmic', { exact: true }).waitFor();
    assert.match(page.url(), /logc=1/);
  })],

  ['a sweep of which nothing is feasible says so with reasons and counts, and draws no axes', (world) => withPage(world, {}, async (page) => {
    const sweep = await nothing(world);
    assert.equal(sweep.feasible, 0, 'a point is feasible after all');
    await page.goto(`${world.origin}#/sweeps/${sweep.id}`);
    await page.getByText(`None of the ${sweep.total} points is feasible`).waitFor();
    assert.equal(await page.locator('.axes').count(), 0);
    const reasons = page.locator('.reason-list li');
    await reasons.first().waitFor();
    const counts = (await reasons.allInnerTexts()).map((text) => Number(/^(\d+) points/.exec(text)[1]));
    assert.equal(counts.reduce((sum, one) => sum + one, 0), sweep.total);
    assert.match(await reasons.first().innerText(), /SRAM/);
    const badge = page.locator('.sweep-head .state');
    assert.equal(await badge.innerText(), 'done, none feasible');
    assert.equal(await page.locator('.sweep-head .state-done').count(), 0);
  })],

  ['a difference of 0.00229 % is called none, and colour, sign and word of others agree', (world) => withPage(world, {}, async (page) => {
    await page.route('**/api/v1/analyses', async (route) => {
      const answer = await (await route.fetch()).json();
      if (Object.keys(route.request().postDataJSON().machine).length > 0) {
        const first = await (await fetch(`${world.origin}api/v1/analyses`, { method: 'POST', headers: json, body: JSON.stringify({ model: 'tiny-sd' }) })).json();
        answer.metrics = { ...first.metrics, latency_s: first.metrics.latency_s * (1 - 0.0000229), throughput_fps: first.metrics.throughput_fps * 0.9, area_mm2: first.metrics.area_mm2 * 0.9, stall_share: 0.1 };
      }
      await route.fulfill({ json: answer });
    });
    await page.goto(`${world.origin}#/what-if?model=tiny-sd&set=cores:8`);
    const delta = (metric) => page.locator(`.tile[data-metric=${metric}] .delta`);
    await delta('latency_s').waitFor();
    assert.equal(await delta('latency_s').innerText(), 'no difference (below 0.05 %)');
    assert.equal(await delta('latency_s').getAttribute('class'), 'delta same');
    assert.deepEqual([await delta('throughput_fps').innerText(), await delta('throughput_fps').getAttribute('class')], ['−10.0 %, worse', 'delta bad']);
    assert.deepEqual([await delta('area_mm2').innerText(), await delta('area_mm2').getAttribute('class')], ['−10.0 %, better', 'delta good']);
    assert.deepEqual([await delta('stall_share').innerText(), await delta('stall_share').getAttribute('class')], ['from 0, worse', 'delta bad']);
  })],

  ['a server that hangs is called gone in 2 s, what is old is marked in 200 ms, and all recovers alone', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/what-if?model=tiny-sd`);
    await page.locator('.worst-layers details').first().waitFor();
    const before = await fps(page);
    world.server.signal('SIGSTOP');
    try {
      within(2000, await tookUntil(page, () => {}, toldGone), 'to say that the server is gone');
      within(200, await tookUntil(page, typeClock, marked), 'to mark old numbers');
      await page.waitForTimeout(600);
      assert.equal(await page.evaluate(marked), true);
      assert.equal(await page.locator('[data-outdated=true] .explanation').count(), 1);
    } finally {
      world.server.signal('SIGCONT');
    }
    await page.locator('.server-gone').waitFor({ state: 'detached', timeout: 30_000 });
    await page.locator('.what-if [data-outdated=false]').waitFor();
    await page.locator('.tile .delta').first().waitFor();
    assert.notEqual(await fps(page), before);
  })],

  ['without a network the same is told at once, and the answer comes when it is back', (world) => withPage(world, {}, async (page, { context }) => {
    await page.goto(`${world.origin}#/what-if?model=tiny-sd`);
    await page.locator('.worst-layers details').first().waitFor();
    const before = await fps(page);
    await context.setOffline(true);
    within(200, await tookUntil(page, typeClock, marked), 'to mark old numbers');
    within(2000, await tookUntil(page, () => {}, toldGone), 'to say that the server is gone');
    await page.waitForTimeout(4000);
    assert.equal(await page.evaluate(marked), true, 'after a while the old numbers stand as the answer');
    await context.setOffline(false);
    await page.locator('.server-gone').waitFor({ state: 'detached', timeout: 30_000 });
    await page.locator('.what-if [data-outdated=false]').waitFor();
    assert.notEqual(await fps(page), before);
  })],

  ['a value that needs correction marks the numbers as of another machine', (world) => withPage(world, {}, async (page) => {
    await page.goto(`${world.origin}#/what-if?model=tiny-sd`);
    await page.locator('.tile').first().waitFor();
    await page.locator('#field-cores').fill('many');
    await page.getByText('A value needs correction: these figures').first().waitFor({ timeout: 10_000 });
    await page.locator('#field-cores').fill('8');
    await page.locator('.tile .delta').first().waitFor();
    await page.locator('.what-if [data-outdated=false]').waitFor();
  })],

  ['the dashboard is sent compressed', (world) => withPage(world, {}, async (page) => {
    const sent = [];
    page.on('response', (response) => { if (/\.(js|css)$/.test(response.url())) sent.push(response); });
    await page.goto(world.origin);
    await page.locator('h1, h2').first().waitFor();
    assert.ok(sent.length >= 2, 'no script or style was sent');
    for (const response of sent) assert.equal((await response.allHeaders())['content-encoding'], 'br', response.url());
    let bytes = 0;
    for (const response of sent) bytes += (await response.request().sizes()).responseBodySize;
    assert.ok(bytes < 200_000, `${bytes} bytes were sent`);
  })],
];
