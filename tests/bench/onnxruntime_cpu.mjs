// The model of this machine's processor (core/baseline/archetypes/cpu.h) beside onnxruntime-node: products, convolutions, softmax
// and whole networks, on one thread and on two. One factor is fitted, on the first three products with one thread.
// node tests/bench/onnxruntime_cpu.mjs [--build build/release] [--seconds 2] [--only TEXT] [--write]
// --write puts the table into docs/model/cpu.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { model_of_graph } from '../cases/model.mjs';
import { installed, version } from '../cases/runtime.mjs';

const { values: given } = parseArgs({
  options: {
    build: { type: 'string', default: 'build/release' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    folder: { type: 'string', default: join(tmpdir(), 'sdip-cpu') },
    write: { type: 'boolean', default: false },
  },
});
const bench = join(given.build, 'tests/bench_cpu');
const machine_file = join(given.folder, 'machine.json');

/// Numbers from -1 to 1, or bytes from 0 to 127, from a small generator.
function numbers(type, shape) {
  let state = 12345;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  const length = shape.reduce((a, b) => a * b, 1);
  if (type === 'float32') return Float32Array.from({ length }, () => next() / 2 ** 31 - 1);
  if (type === 'int64') return new BigInt64Array(length).fill(1n);
  return { uint8: Uint8Array, int8: Int8Array }[type].from({ length }, () => next() >>> 25);
}
const tensor = (shape, type = 'float32') => ({ type, shape, data: numbers(type, shape) });

/// A model of one node with one input that is no constant, unless `others` names more. What comes out is the first
/// part of its result along `axis`: results of megabytes would be handed to JavaScript, in pages that are new.
function one_node(op, shape, constants, attributes, { others = [], types = ['float32', 'float32'], axis = 0n } = {}) {
  const inputs = [{ name: 'x', type: types[0], shape }, ...others];
  const names = [...inputs.map(({ name }) => name), ...Object.keys(constants)];
  const nodes = [
    { op, inputs: names, outputs: ['all'], attributes },
    { op: 'Slice', inputs: ['all', 'from', 'to', 'axis'], outputs: ['y'] },
  ];
  const index = (value) => ({ type: 'int64', shape: [1], data: BigInt64Array.of(value) });
  const slice = { from: index(0n), to: index(1n), axis: index(axis) };
  return model_of_graph({ nodes, inputs, outputs: [{ name: 'y', type: types[1] }], constants: { ...constants, ...slice } });
}

const product = (m, n, k) => ({
  name: `product ${m} x ${n} x ${k}`,
  model: one_node('MatMul', [m, k], { w: tensor([k, n]) }, {}),
});
const heads = (count, m, n, k) => ({
  name: `${count} products of activations ${m} x ${n} x ${k}`,
  model: one_node('MatMul', [count, m, k], {}, {}, { others: [{ name: 'z', type: 'float32', shape: [count, k, n] }] }),
});
const product_of_bytes = (m, n, k) => ({
  name: `int8 product ${m} x ${n} x ${k}`,
  format: 'int8',
  model: one_node('MatMul', [m, k], { w: tensor([k, n]) }, {}),
  timed: one_node('MatMulInteger', [m, k], { w: tensor([k, n], 'int8') }, {}, { types: ['uint8', 'int32'] }),
});
const convolution = (channels, size, results, kernel, { stride = 1, group = 1 } = {}) => ({
  name: `convolution ${kernel} x ${kernel}, ${size} x ${size}, ${channels} to ${results}${stride > 1 ? ', stride ' + stride : ''}${group > 1 ? ', each channel alone' : ''}`,
  model: one_node('Conv', [1, channels, size, size], { w: tensor([results, channels / group, kernel, kernel]) }, {
    pads: { ints: Array(4).fill((kernel - 1) / 2) },
    strides: { ints: [stride, stride] },
    group: { int: group },
  }, { axis: 1n }),
});
/// Products one after the other, each with a weight of its own, that neither grow nor shrink what they multiply.
function chain(count, rows, size) {
  const weight = tensor([size, size]);
  weight.data = weight.data.map((x) => x * Math.sqrt(3 / size));
  const constants = {}, nodes = [];
  for (let i = 0; i < count; ++i) {
    const data = weight.data.slice();
    data[0] = i; // no two alike: a runtime keeps one of such
    constants['w' + i] = { ...weight, data };
    nodes.push({ op: 'MatMul', inputs: [i ? 'y' + (i - 1) : 'x', 'w' + i], outputs: ['y' + i] });
  }
  const value = (name) => ({ name, type: 'float32', shape: [rows, size] });
  const model = model_of_graph({ nodes, inputs: [value('x')], outputs: [value('y' + (count - 1))], constants });
  return { name: `${count} products ${rows} x ${size} x ${size} in turn`, model };
}
const softmax = (rows, length) => ({
  name: `softmax of ${rows} x ${length}`,
  model: one_node('Softmax', [rows, length], {}, { axis: { int: -1 } }),
});
const norm = (rows, length) => ({
  name: `layer norm of ${rows} x ${length}`,
  model: one_node('LayerNormalization', [rows, length], { s: tensor([length]), b: tensor([length]) }, {}),
});
const network = (name) => ({ name, network: true });

/// The software's share is fitted on the first three, on one thread.
const fitted_cases = 3;
const cases = [
  product(256, 256, 256),
  product(512, 512, 512),
  product(1024, 1024, 1024),
  product(2048, 2048, 2048),
  product(1000, 1000, 1000),
  product(4096, 320, 320),
  product(4096, 2560, 320),
  product(77, 3072, 768),
  product(1, 4096, 4096),
  product(16, 4096, 1024),
  chain(2, 77, 768),
  chain(96, 77, 768),
  heads(8, 1024, 1024, 40),
  heads(8, 1024, 40, 1024),
  convolution(320, 64, 320, 3),
  convolution(640, 32, 640, 3),
  convolution(64, 56, 64, 3),
  convolution(64, 56, 256, 1),
  convolution(256, 56, 128, 1, { stride: 2 }),
  convolution(3, 224, 64, 7, { stride: 2 }),
  convolution(96, 112, 96, 3, { group: 96 }),
  softmax(8192, 1024),
  norm(4096, 320),
  product_of_bytes(1024, 1024, 1024),
  product_of_bytes(4096, 320, 320),
  product_of_bytes(77, 3072, 768),
  network('resnet50'),
  network('mobilenetv2'),
  network('bert-base'),
  network('sd15-text'),
];

const runtime = () => createRequire(join(tmpdir(), 'onnxruntime-node-' + version, 'index.js'))('onnxruntime-node');

/// Seconds of runs of a session, the first ones left out: of the clock on the wall, and of processors over threads,
/// which other programs on the machine do not add to but through its caches.
async function timed(file, threads) {
  const { InferenceSession, Tensor } = runtime();
  const session = await InferenceSession.create(file, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    executionProviders: ['cpu'],
    extra: { session: { intra_op: { allow_spinning: '0' } } }, // processor time then is work alone
  });
  const feeds = {};
  for (const { name, type, shape } of session.inputMetadata) feeds[name] = new Tensor(type, numbers(type, shape), shape);
  for (let i = 0; i < 2; ++i) await session.run(feeds);
  const wall = [], processor = [];
  const end = performance.now() + 1000 * Number(given.seconds);
  while (wall.length < 5 || (performance.now() < end && wall.length < 2000)) {
    const start = performance.now(), before = process.cpuUsage();
    await session.run(feeds);
    const { user, system } = process.cpuUsage(before);
    wall.push((performance.now() - start) / 1000);
    processor.push((user + system) / 1e6 / threads);
  }
  await session.release();
  const sorted = (list) => list.sort((a, b) => a - b);
  return { wall: sorted(wall), processor: sorted(processor) };
}
const median = (sorted) => sorted[Math.floor(sorted.length / 2)];

function file_of(one, number) {
  const file = join(given.folder, (one.network ? one.name : 'case' + number) + '.onnx');
  if (one.network && !existsSync(file))
    execFileSync(join(given.build, 'sdip'), ['model', 'write', one.name, file, '--seed', '0'], { stdio: 'ignore' });
  if (!one.network) writeFileSync(file, one.model);
  if (!one.timed) return { file, timed_file: file };
  const timed_file = join(given.folder, 'timed' + number + '.onnx');
  writeFileSync(timed_file, one.timed);
  return { file, timed_file };
}

/// The processor's figures, and what a run costs that computes nothing: of a graph of one small addition, one node;
/// the second thread's start and end are taken to cost as much as the model's devices have it.
async function measured_machine() {
  const machine = JSON.parse(execFileSync(bench, ['measure'], { encoding: 'utf8' }));
  const empty = join(given.folder, 'empty.onnx');
  writeFileSync(empty, one_node('Relu', [1], {}, {}));
  machine.call_s = median((await timed(empty, 1)).processor);
  machine.launch_s = 1e-6;
  machine.join_s = 5e-6;
  writeFileSync(machine_file, JSON.stringify(machine));
  return machine;
}

const unit = (seconds) =>
  seconds >= 1 ? `${seconds.toPrecision(3)} s` : seconds >= 1e-3 ? `${(seconds * 1e3).toPrecision(3)} ms` : `${(seconds * 1e6).toPrecision(3)} us`;
const percent = (share) => `${Math.round(100 * share)} %`;
const gb = (bytes_per_s) => `${(bytes_per_s / 1e9).toPrecision(3)} GB/s`;

function described(machine) {
  const { clock_hz, fma_per_s, fma_per_s_of_all } = machine;
  return [
    `${machine.model}, family ${machine.family} model ${machine.family_model}, ${machine.processors} processors;` +
      ` load ${loadavg()[0].toFixed(1)}; onnxruntime-node ${version}.`,
    `Measured: clock ${(clock_hz / 1e9).toFixed(2)} GHz; ${machine.simd_bits}-bit multiply-adds` +
      ` ${(fma_per_s / clock_hz).toFixed(2)} a cycle, ${(fma_per_s_of_all / clock_hz).toFixed(2)} on all processors` +
      (machine.vnni ? `, VNNI ${(machine.vnni_per_s / clock_hz).toFixed(2)} a cycle` : '') +
      `; reading from L2 ${machine.l2_bytes_per_cycle.toFixed(1)} bytes a cycle, from L3 ${machine.l3_bytes_per_cycle.toFixed(1)},` +
      ` from DRAM ${gb(machine.dram_bytes_per_s_of_one)} on one, ${gb(machine.dram_bytes_per_s)} on all;` +
      ` a run that computes nothing ${unit(machine.call_s)}.`,
  ];
}

function written(text) {
  const path = fileURLToPath(new URL('../../docs/model/cpu.md', import.meta.url));
  const old = readFileSync(path, 'utf8');
  const start = '<!-- onnxruntime: made from `node tests/bench/onnxruntime_cpu.mjs --write` -->\n';
  const from = old.indexOf(start) + start.length, to = old.indexOf('<!-- end -->', from);
  if (from < start.length || to < from) throw new Error('docs/model/cpu.md has no place for the table');
  writeFileSync(path, old.slice(0, from) + text + old.slice(to));
}

const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;

/// Seconds of a pass of a model, as the processor's model has it.
const predicted = ({ format = 'fp32' }, file, threads) =>
  JSON.parse(execFileSync(bench, ['predict', machine_file, `${threads}`, format, file], { encoding: 'utf8' }));

/// What of the units' rate the software's loops attain: the median over the first cases, on one thread.
async function fit(machine) {
  const shares = [];
  for (let i = 0; i < fitted_cases; ++i) {
    const { file } = file_of(cases[i], i);
    const told = predicted(cases[i], file, 1);
    shares.push(told.compute_s / (median((await timed(file, 1)).processor) - machine.call_s - told.overhead_s));
  }
  machine.software_share = Math.min(1, median(shares.sort((a, b) => a - b)));
  writeFileSync(machine_file, JSON.stringify(machine));
}

async function compare() {
  if (!installed()) throw new Error('onnxruntime-node could not be installed');
  mkdirSync(given.folder, { recursive: true });
  const machine = await measured_machine();
  const lines = described(machine);
  lines.push('', '| case | threads | predicted | measured, processors | wall, least | of peak | error |', '| --- | --- | --- | --- | --- | --- | --- |');
  console.log(lines.join('\n'));
  await fit(machine);
  const errors = [];
  for (const [number, one] of cases.entries()) {
    if (!one.name.includes(given.only)) continue;
    const { file, timed_file } = file_of(one, number);
    for (const threads of [1, 2].filter((count) => count <= availableParallelism())) {
      const told = predicted(one, file, threads);
      const runs = await timed(timed_file, threads);
      const least = runs.wall[0] - machine.call_s, usual = median(runs.processor) - machine.call_s / threads;
      const fitted = number < fitted_cases && threads === 1;
      const error = told.seconds / usual - 1;
      if (!fitted) errors.push({ error, least: told.seconds / least - 1, network: Boolean(one.network), bytes: Boolean(one.format) });
      const line = `| ${one.name} | ${threads} | ${unit(told.seconds)} | ${unit(usual)} | ${unit(least)} | ${percent(told.peak_s / usual)} | ${percent(error)}${fitted ? ', fitted' : ''} |`;
      lines.push(line);
      console.log(line);
    }
  }
  const absolute = (list, key = 'error') => (list.length ? percent(mean(list.map((one) => Math.abs(one[key])))) : 'none');
  const summary =
    `Software's share of the units' rate, fitted: ${machine.software_share.toFixed(2)}. Mean absolute error of the` +
    ` ${errors.length} points that fitted nothing: ${absolute(errors)} of processor times, ${absolute(errors, 'least')} of` +
    ` the least on the wall; single fp32 operators ${absolute(errors.filter((e) => !e.network && !e.bytes))},` +
    ` int8 products ${absolute(errors.filter((e) => e.bytes))}, networks ${absolute(errors.filter((e) => e.network))}.`;
  console.log('\n' + summary);
  lines.push('', summary);
  if (given.write) written(lines.join('\n') + '\n');
}

await compare();
