// Built-in models on onnxruntime beside the executor: agree.mjs [--write] [--golden] [WRITER].
// WRITER (build/dev/tests/write_agreed_models) writes the models, their inputs and the executor's results; the runtime
// runs the same files. --write puts the table into docs/model.md, --golden what the runtime gives for small models into
// tests/golden/onnxruntime, from where every ./test reads it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shortest, written } from '../cases/numbers.mjs';
import { installed, run, stop, version } from '../cases/runtime.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const [writer = join(root, 'build/dev/tests/write_agreed_models')] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith('--'));
const most_stored = 512; // numbers of an output: every so manieth

/// The largest difference over the largest magnitude, and how many elements differ at all.
function distance(found, wanted) {
  if (found.type !== wanted.type || '' + found.shape !== '' + wanted.shape)
    throw new Error(`${found.type}[${found.shape}] for ${wanted.type}[${wanted.shape}]`);
  let [apart, largest, different] = [0, 0, 0];
  wanted.data.forEach((x, i) => {
    const difference = Math.abs(found.data[i] - x);
    apart = Number.isNaN(difference) ? NaN : Math.max(apart, difference);
    largest = Math.max(largest, Math.abs(x));
    different += found.data[i] !== x;
  });
  return { relative: largest > 0 ? apart / largest : apart, different, elements: wanted.data.length };
}

function store(name, outputs) {
  const sampled = outputs.map(({ type, shape, data }) => {
    const every = Math.ceil(data.length / most_stored);
    const number = type.startsWith('float') ? (x) => written(shortest(type, x)) : (x) => x;
    return { type, shape, every, data: data.filter((_, i) => i % every === 0).map(number) };
  });
  const folder = join(root, 'tests/golden/onnxruntime');
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ from: 'onnxruntime-node ' + version, outputs: sampled });
  writeFileSync(join(folder, name + '.json'), text + '\n');
}

async function compared(folder, file) {
  const { name, form, tolerance, stored, inputs, outputs } = JSON.parse(readFileSync(join(folder, file)));
  const answer = await run(join(folder, name + '.onnx'), inputs);
  if (answer.error) throw new Error(`${name}: ${answer.error}`);
  if (stored && options.includes('--golden')) store(name, answer.outputs);
  const parts = outputs.map((output, i) => distance(output, answer.outputs[i]));
  const worst = parts.reduce((a, b) => (b.relative > a.relative ? b : a));
  return { name: name.replace('.' + form, ''), form, tolerance, ...worst, passed: worst.relative <= tolerance };
}

const table = (rows) =>
  '| model | numbers | elements | differ | largest difference | tolerance |\n| --- | --- | --- | --- | --- | --- |\n' +
  rows
    .map((row) => {
      const apart = row.relative === 0 ? '0' : row.relative.toExponential(1);
      const tolerance = row.tolerance === 0 ? 'equal' : row.tolerance.toExponential(0);
      return `| ${row.name} | ${row.form} | ${row.elements} | ${row.different} | ${apart} | ${tolerance} |\n`;
    })
    .join('');

function write_table(text) {
  const path = join(root, 'docs/model.md');
  const document = readFileSync(path, 'utf8');
  const first = '<!-- agreement: made from `node tests/agree/agree.mjs --write` -->\n';
  const begin = document.indexOf(first) + first.length;
  if (begin < first.length) throw new Error('docs/model.md has no line ' + first);
  writeFileSync(path, document.slice(0, begin) + text + document.slice(document.indexOf('<!-- end -->', begin)));
}

if (!installed()) {
  console.log(`onnxruntime-node ${version} cannot be installed from npm: no model was compared`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'sdip-agree-'));
try {
  execFileSync(writer, [folder], { stdio: ['ignore', 'inherit', 'inherit'] });
  const rows = [];
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    const row = await compared(folder, file);
    if (!row.passed) console.log(`${row.name} in ${row.form}: ${row.relative} beyond ${row.tolerance}`);
    rows.push(row);
  }
  console.log(table(rows));
  if (options.includes('--write')) write_table(table(rows));
  const passed = rows.filter((row) => row.passed).length;
  console.log(`${passed} passed, ${rows.length - passed} failed`);
  process.exitCode = passed === rows.length ? 0 : 1;
} finally {
  stop();
  rmSync(folder, { recursive: true });
}
