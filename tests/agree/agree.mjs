// Built-in models on onnxruntime beside the executor: agree.mjs [--all] [--only=TEXT] [--write] [--golden] [WRITER].
// WRITER (build/dev/tests/write_agreed_models) writes a model, its inputs and the executor's results; the runtime runs
// the same file; then the next one. --all: large models, too (11 GB of memory and of disk); --only: those that
// have this in their names. --write puts their lines into the table of docs/model/executor.md, --golden what the runtime gives
// for small models into tests/golden/onnxruntime, from where every ./test reads it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const only = options.find((word) => word.startsWith('--only='))?.slice('--only='.length) ?? '';

/// Weights stay where they are mapped: a model takes little more memory than its file.
const session = { intraOpNumThreads: 2, extra: { session: { disable_prepacking: '1' } } };

async function compared(name) {
  const folder = mkdtempSync(join(tmpdir(), 'sdip-agree-'));
  try {
    execFileSync(writer, [folder, name], { stdio: ['ignore', 'inherit', 'inherit'] });
    const written = JSON.parse(readFileSync(join(folder, name + '.json')));
    const { form, tolerance, stored, inputs, outputs } = written;
    const start = performance.now();
    const answer = await run(join(folder, name + '.onnx'), inputs, session);
    if (answer.error) throw new Error(`${name}: ${answer.error}`);
    const took = (performance.now() - start) / 1000;
    console.error(`${name}: ${written.seconds.toFixed(1)} s, the runtime ${took.toFixed(1)} s`);
    if (stored && options.includes('--golden')) store(name, answer.outputs);
    const parts = outputs.map((output, i) => distance(output, answer.outputs[i]));
    const worst = parts.reduce((a, b) => (b.relative > a.relative || Number.isNaN(b.relative) ? b : a));
    return { name: name.replace('.' + form, ''), form, tolerance, ...worst, passed: worst.relative <= tolerance };
  } finally {
    stop(); // so that its memory is the next model's
    rmSync(folder, { recursive: true });
  }
}

const head =
  '| model | numbers | elements | differ | largest difference | tolerance |\n| --- | --- | --- | --- | --- | --- |\n';

function line_of(row) {
  const apart = row.relative === 0 ? '0' : row.relative.toExponential(1);
  const tolerance = row.tolerance === 0 ? 'equal' : row.tolerance.toExponential(0);
  return `| ${row.name} | ${row.form} | ${row.elements} | ${row.different} | ${apart} | ${tolerance} |`;
}

/// Model and numbers of a line of the table.
const key_of = (line) => line.split('|').slice(1, 3).join('|');

/// Puts lines into the table of docs/model/executor.md: in the place of those of the same model and numbers, others stay.
function write_lines(lines) {
  const path = join(root, 'docs/model/executor.md');
  const document = readFileSync(path, 'utf8');
  const first = '<!-- agreement: made from `node tests/agree/agree.mjs --write` -->\n';
  const begin = document.indexOf(first) + first.length;
  if (begin < first.length) throw new Error('docs/model/executor.md has no line ' + first);
  const end = document.indexOf('<!-- end -->', begin);
  const kept = document.slice(begin, end).split('\n').slice(2, -1);
  const by_key = new Map([...kept, ...lines].map((line) => [key_of(line), line]));
  const table = head + [...by_key.keys()].sort().map((key) => by_key.get(key) + '\n').join('');
  writeFileSync(path, document.slice(0, begin) + table + document.slice(end));
}

if (!installed()) {
  console.log(`onnxruntime-node ${version} cannot be installed from npm: no model was compared`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exit(0);
}
const all = options.includes('--all') || only !== '';
const names = execFileSync(writer, { encoding: 'utf8' })
  .split('\n')
  .filter((line) => line.includes(only) && (all || !line.endsWith(' large')))
  .map((line) => line.replace(' large', ''))
  .filter((name) => name !== '')
  .sort();
const rows = [];
for (const name of names) {
  const row = await compared(name);
  if (!row.passed) console.log(`${row.name} in ${row.form}: ${row.relative} beyond ${row.tolerance}`);
  rows.push(row);
}
console.log(head + rows.map((row) => line_of(row) + '\n').join(''));
if (options.includes('--write')) write_lines(rows.map(line_of));
const passed = rows.filter((row) => row.passed).length;
console.log(`${passed} passed, ${rows.length - passed} failed`);
process.exitCode = passed === rows.length ? 0 : 1;
