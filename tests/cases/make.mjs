// Fills in what the cases of this folder expect, or compares: make.mjs [--check] [FAMILY.json ...]. See README.md.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formulas } from './formulas.mjs';
import { model_of } from './model.mjs';
import { is_float, rounded, shortest, value_of, written } from './numbers.mjs';
import { installed, run, stop, version } from './runtime.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const oracle = 'onnxruntime-node ' + version;

// Kernels that the runtime lacks in a narrow type, it has in a wider one that holds the same numbers.
const wider = {
  float16: 'float32',
  bfloat16: 'float32',
  float8e4m3fn: 'float32',
  float8e4m3fnuz: 'float32',
  float8e5m2: 'float32',
  float8e5m2fnuz: 'float32',
  float4e2m1: 'float32',
  float8e8m0: 'float32',
  int4: 'int8',
  uint4: 'uint8',
  int2: 'int8',
  uint2: 'uint8',
};

const widened = (type) => wider[type] ?? type;

/// A value of JSON in which each "type" is widened.
function widely(value) {
  if (Array.isArray(value)) return value.map(widely);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, each]) => [key, key === 'type' ? widened(each) : widely(each)]);
  return Object.fromEntries(entries);
}

/// The case as its `from` says it was run, where the operator means the same: "... at opset 17", "... in ai.onnx",
/// "... in wider types".
function as_run(one) {
  const at = / at opset (\d+)/.exec(one.from);
  const run = { ...one, opset: at ? Number(at[1]) : one.opset };
  if (one.from.includes(' in ai.onnx')) Object.assign(run, { domain: undefined, opset: 17 });
  return one.from.includes(' in wider types') ? { ...widely(run), outputs: one.outputs.map(widened) } : run;
}

/// The outputs that were asked for back in their places, each number one of its type.
function shaped(one, found) {
  const left = [...found];
  return one.outputs.map((type) => {
    if (!type) return null;
    const { shape, data } = left.shift();
    const number = is_float(type) ? (x) => written(shortest(type, rounded(type, value_of(x)))) : written;
    return { type, shape, data: data.map(number) };
  });
}

async function expected_of(one) {
  if (one.from.startsWith('formula')) {
    const formula = formulas[one.op];
    if (!formula) throw new Error('no formula for ' + one.op);
    return shaped(one, formula(one));
  }
  if (!one.from.startsWith(oracle)) throw new Error('made by ' + one.from + ', expected ' + oracle);
  const { model, types } = model_of(as_run(one));
  const { outputs, error } = await run(model);
  if (error) throw new Error(error);
  outputs.forEach(({ type }, i) => {
    if (type !== types[i]) throw new Error(`output ${i} is ${type}, expected ${types[i]}`);
  });
  return shaped(one, outputs);
}

// Formulas are evaluated in double and runtimes differ in their last bits; integers are equal.
const tolerance = { float32: 1e-4, float64: 1e-6, float16: 2e-3, bfloat16: 2e-2 };
function difference(found, wanted) {
  if (found.length !== wanted.length) return 'count of outputs';
  for (const [i, tensor] of found.entries()) {
    const other = wanted[i];
    if (!tensor !== !other) return `output ${i} is absent in one`;
    if (!tensor) continue;
    if (tensor.type !== other.type || '' + tensor.shape !== '' + other.shape) return `type or shape of output ${i}`;
    for (const [k, x] of tensor.data.entries()) {
      const [a, b] = [value_of(x), value_of(other.data[k])];
      const near = Math.abs(a - b) <= (tolerance[tensor.type] ?? 0) * Math.max(1e-3, Math.abs(b));
      if (!Object.is(a, b) && a !== b && !near) return `output ${i}, element ${k}: ${a} for ${b}`;
    }
  }
  return '';
}

/// A case a few lines long, each tensor on one.
function text_of(one) {
  const { inputs, outputs, from, expected, ...head } = one;
  const list = (tensors) => tensors.map((tensor) => '\n   ' + JSON.stringify(tensor)).join(',');
  const start = JSON.stringify(head).slice(0, -1);
  const end = `"outputs":${JSON.stringify(outputs)},"from":${JSON.stringify(from)}`;
  return ` ${start},\n  "inputs":[${list(inputs)}],\n  ${end},\n  "expected":[${list(expected ?? [])}]}`;
}

const check = process.argv.includes('--check');
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const families = readdirSync(folder).filter((file) => file.endsWith('.json') && file !== 'versions.json');
let [passed, failed] = [0, 0];
if (!installed()) {
  console.log(`${oracle} cannot be installed from npm: no case was compared`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
for (const file of named.length ? named.map((path) => basename(path)) : families) {
  const cases = JSON.parse(readFileSync(join(folder, file)));
  for (const one of cases) {
    one.from ??= oracle;
    try {
      const found = await expected_of(one);
      const what = check ? difference(found, one.expected ?? []) : '';
      if (what) throw new Error(what);
      one.expected = found;
      passed += 1;
    } catch (error) {
      console.log(`${file}: ${one.name} (${one.op} ${one.opset}): ${error.message}`);
      failed += 1;
    }
  }
  if (!check) writeFileSync(join(folder, file), `[\n${cases.map(text_of).join(',\n')}\n]\n`);
}
stop();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
