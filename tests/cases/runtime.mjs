// onnxruntime-node in a child process, since some models crash it. Run as a child, it answers models with outputs.
import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decode_small_float, raw_bytes } from './numbers.mjs';

export const version = '1.30.0';
const folder = join(tmpdir(), 'onnxruntime-node-' + version);

/// Installs the runtime into a temporary folder, unless it is there. False when it cannot be.
export function installed() {
  if (existsSync(join(folder, 'node_modules/onnxruntime-node/package.json'))) return true;
  mkdirSync(folder, { recursive: true });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  try {
    execFileSync('npm', ['install', ...options, 'onnxruntime-node@' + version], {
      stdio: 'ignore',
      timeout: 300_000,
    });
  } catch {
    return false;
  }
  return existsSync(join(folder, 'node_modules/onnxruntime-node/package.json'));
}

let child;
let answer;

function start() {
  const started = fork(fileURLToPath(import.meta.url), ['serve'], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // It has kernels of opset 27, whose ONNX release followed its own; this lets it use them.
    env: { ...process.env, ALLOW_RELEASED_ONNX_OPSET_ONLY: '0' },
  });
  child = started;
  child.on('message', (message) => answer?.(message));
  child.on('exit', (code, signal) => {
    if (child !== started) return; // it was stopped
    child = undefined;
    answer?.({ error: `the runtime died (${signal ?? code})` });
  });
}

/// The outputs of a model (its bytes, or the path of its file) for values of its inputs, as {outputs: [{type, shape,
/// data}]}, or {error}. `options`: of the session, beside ours.
export function run(model, inputs = [], options = {}) {
  if (!child) start();
  return new Promise((resolve) => {
    answer = (message) => {
      answer = undefined;
      resolve(message);
    };
    child.send({ model, inputs, options });
  });
}

export function stop() {
  child?.disconnect();
  child = undefined;
}

const types = { float64: 'float64', bool: 'boolean' };
function values_of(type, data) {
  const list = Array.from(data, (x) => (typeof x === 'bigint' && Number.isSafeInteger(Number(x)) ? Number(x) : x));
  if (type === 'float16' && data instanceof Uint16Array)
    return list.map((code) => decode_small_float('float16', code));
  return list.map((x) => (typeof x === 'bigint' ? String(x) : Number(x)));
}

/// A tensor as the runtime takes it.
function fed(runtime, { type, shape, data }) {
  const bytes = raw_bytes(type, data);
  const list = { float32: Float32Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array }[type];
  return new runtime.Tensor(type, new list(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)), shape);
}

async function outputs_of(runtime, { model, inputs, options }) {
  const ours = { graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 4 };
  const session = await runtime.InferenceSession.create(model, { ...ours, ...options });
  const feeds = Object.fromEntries(inputs.map((input, i) => [session.inputNames[i], fed(runtime, input)]));
  const found = await session.run(feeds);
  const outputs = session.outputNames.map((name) => {
    const type = types[found[name].type] ?? found[name].type;
    return { type, shape: [...found[name].dims], data: values_of(type, found[name].data) };
  });
  await session.release();
  return { outputs };
}

if (process.argv[2] === 'serve' && process.send) {
  const runtime = createRequire(join(folder, 'index.js'))('onnxruntime-node');
  process.on('message', async (question) => {
    process.send(await outputs_of(runtime, question).catch((error) => ({ error: error.message })));
  });
  process.on('disconnect', () => process.exit());
}
