// Writes docs/findings.md: the best SDIP for four goals and what it says of the essay's hypotheses, each figure of
// `sdip best`, `sdip analyze`, `sdip compare` or `sdip accuracy`, with the ranges of the technology's figures.
//   node tests/bench/findings.mjs [--sdip build/release/sdip] [--evaluations 60000] [--seeds 3] [--output docs/findings.md]
// Repeats bit for bit: searches end by their evaluations, and not by time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const { values: said } = parseArgs({ options: {
  sdip: { type: 'string', default: join(root, 'build/release/sdip') },
  evaluations: { type: 'string', default: '60000' },
  seeds: { type: 'string', default: '3' },
  output: { type: 'string', default: join(root, 'docs/findings.md') } } });
const folder = mkdtempSync(join(tmpdir(), 'sdip-findings-'));
const model = 'sd15';

/** What a command prints as JSON; a design point that is infeasible is an answer, too. */
const asked = (args) => {
  const run = spawnSync(said.sdip, args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
  if (run.status !== 0 && run.status !== 3) throw new Error(`sdip ${args.join(' ')}: ${run.stderr}`);
  return JSON.parse(run.stdout);
};

const digits = (value) => (value === null || value === undefined || !Number.isFinite(value) ? '-'
  : value >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3)).toString());
const settings = (machine) => Object.entries(machine).flatMap(([key, value]) => ['--fix', `${key}=${value}`]);

/** The whole report of a machine given by what differs from the default preset. */
const analysed = (machine) => {
  const file = join(folder, 'machine.json');
  writeFileSync(file, JSON.stringify(machine));
  return asked(['analyze', model, '--machine', file, '--json']);
};

/** The ends of a breakdown's range. */
const ends = (parts) => ({
  value: parts.reduce((sum, part) => sum + part.value, 0),
  least: parts.reduce((sum, part) => sum + (part.least ?? part.value), 0),
  most: parts.reduce((sum, part) => sum + (part.most ?? part.value), 0) });

/** The best machine for a goal, of searches with each seed. */
const best = ({ fixed = {}, where = [], minimize, maximize, vary = [] }) => {
  const args = ['best', model, ...settings(fixed), ...where.flatMap((one) => ['--where', one]),
    ...(minimize ? ['--minimize', minimize] : []), ...(maximize ? ['--maximize', maximize] : []),
    ...vary.flatMap((one) => ['--vary', one]), '--evaluations', said.evaluations];
  const runs = Array.from({ length: Number(said.seeds) }, (_, k) => {
    const its = [...args, '--seed', String(k + 1)];
    process.stderr.write(`sdip ${its.join(' ')}\n`);
    return { args: its, answer: asked([...its, '--validate-seconds', '0', '--json']) };
  });
  const goal = minimize ?? maximize;
  const cost = ({ answer: { best: [found] } }) => (found.keeps_constraints ? found.objectives[goal] * (minimize ? 1 : -1) : Infinity);
  const chosen = runs.reduce((least, one) => (cost(one) < cost(least) ? one : least));
  const { answer } = chosen;
  const found = answer.best[0];
  const machine = found.settings;  // what differs from the default preset
  return { answer, machine, metrics: found.metrics, keeps: found.keeps_constraints, report: analysed(machine), goal,
    seeds: runs.map((run) => (run.answer.best[0].keeps_constraints ? run.answer.best[0].objectives[goal] : NaN)),
    command: `sdip ${chosen.args.map((arg) => (/[ <>=]/.test(arg) && !/^[a-z_0-9.]+=[\w.]+$/.test(arg) ? `'${arg}'` : arg)).join(' ')}` };
};

const area = (found) => ends(found.report.area_mm2);
const energy = (found) => ends(found.report.energy_j);
const ranged = (range, unit) => `${digits(range.value)} ${unit} (${digits(range.least)} to ${digits(range.most)})`;

/** The goal's metric by each seed, the least and the greatest. */
const spread = ({ seeds }) => {
  const found = seeds.filter(Number.isFinite);
  return found.length === 0 ? '-' : `${digits(Math.min(...found))} to ${digits(Math.max(...found))}`;
};

/** Whether a comparison of two figures stays as it is at both ends of their ranges. */
const verdict = (less, more) => (less.most < more.least ? 'holds over the ranges'
  : 'flips inside the ranges of the technology\'s figures, if these move apart');

const published = (batch) => {
  const rows = asked(['compare', model, '--baselines', 'a100,tpu_v4,mn_core_2', '--batches', String(batch), '--json']).rows;
  return rows.filter((row) => row.kind === 'device');
};

const lines = [];
const say = (text = '') => lines.push(text);
/** Prose, wrapped. */
const tell = (text) => {
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line && line.length + 1 + word.length > 120) { say(line); line = ''; }
    line += (line ? ' ' : '') + word;
  }
  say(line);
  say();
};
const table = (head, rows) => {
  say(`| ${head.join(' | ')} |`);
  say(`| ${head.map(() => '---').join(' | ')} |`);
  for (const row of rows) say(`| ${row.join(' | ')} |`);
  say();
};

const shown = ['cores', 'core_clock_mhz', 'weight_format', 'activation_format', 'psram_bytes', 'dsram_bytes',
  'stackram_bytes', 'dram_kind', 'dram_channels', 'mac_sharing', 'fusion', 'fused_attention', 'strips',
  'skip_handling', 'weight_storage', 'memory_hierarchy'];

const describe = (title, found) => {
  say(`### ${title}`);
  say();
  say('    ' + found.command.replace(/ --/g, ' \\\n      --'));
  say();
  if (!found.keeps) {
    tell('No machine was found that keeps the conditions.');
    return;
  }
  const m = found.metrics;
  table(['frames/s', 'latency', 'energy a frame', 'area', 'power', 'price'], [[digits(m.throughput_fps),
    `${digits(m.latency_s)} s`, ranged(energy(found), 'J'), ranged(area(found), 'mm2'), `${digits(m.power_w)} W`,
    `${digits(m.price_usd)} USD`]]);
  const machine = found.report.machine;
  tell('Some of its rows are ' + shown.map((key) => `${key}=${machine[key]}`).join(', ') + '; conv2d ' +
    `${machine.conv_lanes_in} x ${machine.conv_lanes_out} x ${machine.conv_lanes_pixel} lanes. ` +
    `${found.answer.around?.pace ?? '-'} sets its pace, limited by ${found.answer.around?.limiter ?? '-'}. ` +
    `${digits(found.answer.evaluated)} machines were evaluated; ${found.goal} by the seeds: ${found.seeds.map((one) => (Number.isFinite(one) ? digits(one) : 'none')).join(', ')}.`);
};

const write = () => {
  say('# Findings');
  say();
  say('*Which SDIP should one build, and what is left of the essay\'s hypotheses?*');
  say();
  tell('Written by one command, `node tests/bench/findings.mjs`: every figure is of `sdip best` (a search, not a ' +
    `proof: the best of seeds 1 to ${said.seeds}, ${digits(Number(said.evaluations))} machines each), \`analyze\`, ` +
    '`compare` or `accuracy`. ' +
    'Stable Diffusion 1.5 at 512 x 512. Ranges in brackets are those of the technology table\'s figures, all at their ' +
    'least and all at their most; energy includes DRAM. Devices are predicted, not measured; theirs is fp16 or bf16, and ' +
    'SDIP\'s formats are the search\'s own choice of 8 and 16 bits, whose accuracy stands under formats. ' +
    'Searches so short are not converged: how far their seeds differ stands beside each goal, and of machines that ' +
    'differ by less this says nothing.');
  say('## Four goals');
  say();
  const a = best({ minimize: 'area_mm2', where: ['throughput_fps >= 30'],
    fixed: { technology_node: 'n7', steps: 4, guidance: 'off', dram_kind: 'lpddr5', dram_channels: 4 } });
  describe('Least area for 30 frames/s: 4 steps, no guidance, 7 nm, LPDDR5 at 51 GB/s', a);
  const b = best({ minimize: 'energy_j_per_frame', where: ['sram_bytes <= 8388608'],
    fixed: { technology_node: 'n7', steps: 20, guidance: 'batch' } });
  describe('Least energy an image under 8 MB of SRAM: 20 steps with guidance, 7 nm', b);
  const c = Object.fromEntries(['n28', 'n16', 'n7'].map((node) => [node, best({ maximize: 'throughput_fps',
    where: ['area_mm2 <= 858'], fixed: { technology_node: node, steps: 20, guidance: 'batch', dies: 1 } })]));
  for (const [node, found] of Object.entries(c))
    describe(`Most images/s in one exposure (858 mm2): ${node.slice(1)} nm, 20 steps with guidance`, found);
  const d = best({ maximize: 'frames_per_j', fixed: { technology_node: 'n7', steps: 20, guidance: 'batch' } });
  describe('Most images for a joule (images/s/W): 7 nm, 20 steps with guidance', d);

  say('## Beside other machines');
  say();
  tell('20 steps with guidance; SDIP for most images/s and for most images a joule, at 7 nm, beside devices at their ' +
    'own process and batch 8.');
  table(['machine', 'frames/s', 'frames a joule', 'area', 'frames/s/mm2'],
    [['SDIP, most images/s in 858 mm2', c.n7], ['SDIP, most images a joule', d]].map(([name, found]) => [name,
      digits(found.metrics.throughput_fps), digits(found.metrics.frames_per_j), `${digits(found.metrics.area_mm2)} mm2`,
      digits(found.metrics.fps_per_mm2)]).concat(published(8).map((row) => [row.name, digits(row.values.throughput_fps),
      digits(row.values.frames_per_j), `${digits(row.values.area_mm2)} mm2`, digits(row.values.fps_per_mm2)])));

  say('## The essay\'s hypotheses');
  say();
  say('### One weight memory for N cores');
  say();
  const cores = [1, 2, 4, 5, 10, 20].map((count) => ({ count,
    ...best({ maximize: 'fps_per_mm2', fixed: { technology_node: 'n7', steps: 20, guidance: 'batch', cores: count } }) }));
  table(['cores', 'frames/s/mm2', 'by the seeds', 'frames/s', 'area', 'energy a frame', 'weights from DRAM a frame', 'its pace is set by'],
    cores.map((one) => [one.count, digits(one.metrics.fps_per_mm2), spread(one), digits(one.metrics.throughput_fps),
      ranged(area(one), 'mm2'), ranged(energy(one), 'J'), `${digits(one.metrics.weight_bytes_per_frame / 1e9)} GB`,
      `${one.answer.around?.pace ?? '-'}: ${one.answer.around?.limiter ?? '-'}`]));
  const top = cores.reduce((most, one) => (one.metrics.fps_per_mm2 > most.metrics.fps_per_mm2 ? one : most));
  tell(`The best machine of each number of cores: most images/s/mm2 at ${top.count} ${top.count === 1 ? 'core' : 'cores'}. ` +
    `Weights from DRAM a frame fall from ${digits(cores[0].metrics.weight_bytes_per_frame / 1e9)} GB with one core to ` +
    `${digits(cores.at(-1).metrics.weight_bytes_per_frame / 1e9)} GB with ${cores.at(-1).count}.`);

  say('### Operators of their own, or MACs shared');
  say();
  const sharing = ['n28', 'n16', 'n7', 'n5'].map((node) => ({ node, of: ['separate', 'shared'].map((kind) => best({
    maximize: 'fps_per_mm2', fixed: { technology_node: node, steps: 20, guidance: 'batch', mac_sharing: kind } })) }));
  table(['node', 'separate: frames/s/mm2', 'by the seeds', 'shared: frames/s/mm2', 'by the seeds', 'shared over separate', 'areas'],
    sharing.map(({ node, of }) => [`${node.slice(1)} nm`, digits(of[0].metrics.fps_per_mm2), spread(of[0]),
      digits(of[1].metrics.fps_per_mm2), spread(of[1]),
      digits(of[1].metrics.fps_per_mm2 / of[0].metrics.fps_per_mm2),
      `${ranged(area(of[0]), 'mm2')}; ${ranged(area(of[1]), 'mm2')}`]));
  const gains = sharing.map(({ of }) => of[1].metrics.fps_per_mm2 / of[0].metrics.fps_per_mm2);
  tell('The essay expects redundant operators to win as SRAM stops shrinking. ' + (gains.every((gain) => gain > 1)
    ? `Shared MACs win at every node, by ${digits(Math.min(...gains))} to ${digits(Math.max(...gains))} times.`
    : `Shared MACs are ${digits(Math.min(...gains))} to ${digits(Math.max(...gains))} times as good.`) +
    ' Both machines of a node are drawn by one table, so that its ranges move both alike.');

  say('### 16, 8 and 4 bits');
  say();
  const formats = [['fp16', 'fp16', 'fp32'], ['bf16', 'bf16', 'fp32'], ['int8', 'fp16', 'fp32'], ['int8', 'int8', 'int32'],
    ['mxfp4', 'fp16', 'fp32']].map(([weights, activations, sums]) => {
    // Sums of weights that share a scale by blocks do not stay in the arrays.
    const whole = weights.startsWith('mx') ? { accumulator_folds: 0, weight_registers: 0 } : {};
    const fixed = { technology_node: 'n7', steps: 20, guidance: 'batch', weight_format: weights,
      activation_format: activations, accumulator_format: sums, ...whole };
    const found = best({ maximize: 'fps_per_mm2', fixed });
    const file = join(folder, 'formats.json');
    writeFileSync(file, JSON.stringify({ weight_format: weights, activation_format: activations, accumulator_format: sums, ...whole }));
    const accuracy = asked(['accuracy', 'tiny-sd', '--machine', file, '--steps', '4', '--json']);
    return { weights, activations, found, accuracy };
  });
  table(['weights', 'activations', 'frames/s/mm2', 'by the seeds', 'energy a frame', 'area', 'signal to noise of tiny-sd\'s image'],
    formats.map(({ weights, activations, found, accuracy }) => [weights, activations, digits(found.metrics.fps_per_mm2),
      spread(found), ranged(energy(found), 'J'), ranged(area(found), 'mm2'),
      accuracy.sqnr_db === null ? 'exact or not said' : `${digits(accuracy.sqnr_db)} dB`]));
  tell('Signal to noise is of tiny-sd with random weights after 4 steps, by the executor beside float 32: it orders the ' +
    'formats, and is no promise for trained weights.');

  say('### 20 steps against 4');
  say();
  const steps = [20, 4].map((count) => best({ maximize: 'fps_per_mm2',
    fixed: { technology_node: 'n7', steps: count, guidance: 'batch' } }));
  table(['steps', 'frames/s/mm2', 'by the seeds', 'frames/s', 'area', 'energy a frame', 'cores'], [20, 4].map((count, i) => [count,
    digits(steps[i].metrics.fps_per_mm2), spread(steps[i]), digits(steps[i].metrics.throughput_fps), ranged(area(steps[i]), 'mm2'),
    ranged(energy(steps[i]), 'J'), steps[i].report.machine.cores]));

  say('### A straight-line program, or a host');
  say();
  const hosts = ['central', 'distributed', 'host'].map((kind) => ({ kind, report: analysed({ sequencer: kind }) }));
  table(['sequencer of preset balanced', 'frames/s', 'latency', 'energy a frame'], hosts.map(({ kind, report }) => [kind,
    digits(report.metrics.throughput_fps), `${digits(report.metrics.latency_s)} s`, `${digits(report.metrics.energy_j_per_frame)} J`]));

  say('### Weights in ROM');
  say();
  const storage = ['streamed', 'resident', 'hard_coded'].map((kind) => ({ kind, found: best({ maximize: 'fps_per_mm2',
    fixed: { technology_node: 'n7', steps: 20, guidance: 'batch', weight_storage: kind } }) }));
  table(['weights', 'frames/s/mm2', 'by the seeds', 'frames/s', 'area', 'energy a frame'], storage.map(({ kind, found }) => (found.keeps
    ? [kind, digits(found.metrics.fps_per_mm2), spread(found), digits(found.metrics.throughput_fps), ranged(area(found), 'mm2'), ranged(energy(found), 'J')]
    : [kind, 'none found', '', '', '', ''])));
  const [streamed, , rom] = storage;
  if (rom.found.keeps)
    tell(`A frame takes ${ranged(energy(rom.found), 'J')} with weights in ROM and ${ranged(energy(streamed.found), 'J')} with ` +
      `streamed ones: which is less ${verdict(...[energy(rom.found), energy(streamed.found)].sort((x, y) => x.value - y.value))}.`);
  writeFileSync(said.output, lines.join('\n').trimEnd() + '\n');
};

try {
  write();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
