// One step of a U-Net in onnxruntime-node and in the executor, on the same weights, inputs and threads: times, memory,
// and how far the outputs are from each other.
// node tests/bench/onnxruntime_step.mjs [--model sd15-unet|tiny-sd-unet] [--build build/release] [--threads 2] [--runs 3]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installed, version } from '../cases/runtime.mjs';

const { values: given } = parseArgs({
  options: {
    model: { type: 'string', default: 'sd15-unet' },
    build: { type: 'string', default: 'build/release' },
    threads: { type: 'string', default: '2' },
    runs: { type: 'string', default: '3' },
    folder: { type: 'string', default: join(tmpdir(), 'sdip-step') },
    machine: { type: 'string', default: fileURLToPath(new URL('sequential.json', import.meta.url)) },
    'onnxruntime-alone': { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
  },
});
const folder = join(given.folder, given.model);
const model = join(folder, given.model + '.onnx');
const threads = Number(given.threads);
const runs = Number(given.runs);

/// What an input of the U-Net holds: a time step of 500, else numbers from -1 to 1 from a small generator.
function input_data(name, type, count) {
  if (name === 'timestep') return type === 'int64' ? new BigInt64Array(count).fill(500n) : new Float32Array(count).fill(500);
  let state = 12345;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/// In a child, so that its memory is its own: loads the model, runs it, leaves inputs and outputs in the folder.
async function serve() {
  const runtime = createRequire(join(tmpdir(), 'onnxruntime-node-' + version, 'index.js'))('onnxruntime-node');
  const session = await runtime.InferenceSession.create(model, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    executionProviders: ['cpu'],
    extra: { session: { intra_op: { allow_spinning: '0' } } }, // processor time then is work alone
  });
  const feeds = {};
  for (const { name, type, shape } of session.inputMetadata) {
    const data = input_data(name, type, shape.reduce((a, b) => a * b, 1));
    feeds[name] = new runtime.Tensor(type, data, shape);
    writeFileSync(join(folder, name + '.bin'), new Uint8Array(data.buffer));
  }
  const seconds = [], processor_seconds = [];
  for (let i = 0; i <= runs; ++i) {
    const start = performance.now(), before = process.cpuUsage();
    const outputs = await session.run(feeds);
    const { user, system } = process.cpuUsage(before);
    if (i > 0) seconds.push((performance.now() - start) / 1000); // the first run also takes memory
    if (i > 0) processor_seconds.push((user + system) / 1e6);
    for (const [name, tensor] of Object.entries(outputs))
      writeFileSync(join(folder, name + '.expected'), new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength));
  }
  const outputs = session.outputNames;
  process.stdout.write(JSON.stringify({ seconds, processor_seconds, peak_bytes: process.resourceUsage().maxRSS * 1024, outputs }) + '\n');
}

function child(program, args) {
  const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 });
  return JSON.parse(text.trim().split('\n').at(-1));
}

const own = (...changes) =>
  child(join(given.build, 'tests/bench_step'), [model, folder, given.runs, given.threads, given.machine, ...changes]);

function floats(name) {
  const bytes = readFileSync(join(folder, name));
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

/// The largest difference of an output, and its share of the output's largest magnitude.
function difference(name) {
  const got = floats(name + '.out'), want = floats(name + '.expected');
  let largest = got.length === want.length ? 0 : Infinity, magnitude = 0;
  for (let i = 0; i < want.length; ++i) {
    const off = Math.abs(got[i] - want[i]);
    largest = Number.isNaN(off) ? Infinity : Math.max(largest, off);
    magnitude = Math.max(magnitude, Math.abs(want[i]));
  }
  return { largest, magnitude };
}

/// Along sums, as the preset essay has them: products are added as trees.
const essay_lanes = ['conv_lanes_in=16', 'linear_lanes_k=16', 'matmul_lanes_k=16'];

const gb = (bytes) => (bytes < 1e8 ? `${(bytes / 1e6).toFixed(2)} MB` : `${(bytes / 1e9).toFixed(2)} GB`);
const best = (one) => Math.min(...one.seconds);
const work = (one) => Math.min(...one.processor_seconds);
const ratios = (a, b) => `${(best(a) / best(b)).toFixed(2)} x (${(work(a) / work(b)).toFixed(2)} x by processor time)`;
const line = (what, one, rest = '') =>
  console.log(`  ${what.padEnd(26)} ${best(one).toFixed(3).padStart(8)} s, ${work(one).toFixed(3).padStart(8)} s of processors, ${(one.peak_bytes / 1e9).toFixed(2).padStart(5)} GB  ${rest}`);

function compare() {
  if (!installed()) throw new Error('onnxruntime-node could not be installed');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(model)) execFileSync(join(given.build, 'sdip'), ['model', 'write', given.model, model, '--seed', '0'], { stdio: 'inherit' });
  const weights = statSync(join(folder, given.model + '.weights')).size;
  console.log(`One step of ${given.model} on ${cpus()[0].model}, ${given.threads} threads, best of ${runs}; load ${loadavg()[0].toFixed(1)}, weights ${(weights / 1e9).toFixed(2)} GB`);
  const runtime = child(process.execPath, [fileURLToPath(import.meta.url), '--serve', ...process.argv.slice(2)]);
  line(`onnxruntime ${version}, fp32`, runtime);
  if (given['onnxruntime-alone']) return;
  const fp32 = own();
  line('executor, fp32', fp32, `${ratios(fp32, runtime)} onnxruntime's, at most 2`);
  for (const name of runtime.outputs) {
    const { largest, magnitude } = difference(name);
    console.log(`    ${name}: off by ${largest.toExponential(2)} at most, ${(largest / magnitude).toExponential(2)} of its largest`);
  }
  console.log(`    memory beside the weights ${gb(fp32.peak_bytes - weights)}; told beforehand: ${gb(fp32.told_bytes)}, its weights mapped`);
  const live = fp32.live_peak_bytes, bound = weights + 1.2 * live;
  console.log(`    live peak ${gb(live)}: memory is ${(fp32.peak_bytes / (weights + live)).toFixed(3)} x (weights + live peak), and ${(fp32.peak_bytes / bound).toFixed(3)} x (weights + 1.2 x live peak), at most 1`);
  const int8 = own('weight_format=int8', 'activation_format=int8', 'accumulator_format=int32');
  line('executor, int8', int8, `${ratios(int8, fp32)} its fp32, at most 1.5`);
  const tree = own(...essay_lanes);
  line('executor, fp32, tree order', tree, `${ratios(tree, runtime)} onnxruntime's, no limit: sums of ${essay_lanes.join(', ')}`);
}

if (given.serve) await serve();
else compare();
