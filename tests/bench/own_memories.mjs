// Best machines of one size for all stages beside those with rows of the VAE decoder's own: Stable Diffusion 1.5 at
// 30 frames a second, 512 x 512, 4 steps, no guidance. By hand:
//   node tests/bench/own_memories.mjs --sdip build/release/sdip [--count 20000] [--seed 1] [--set 'dram_channels=16 weight_format=int8']
// What rows of its own save depends on the DRAM: one that keeps up with any traffic lets small memories do for all.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const options = { sdip: 'build/release/sdip', count: '20000', seed: '1', fps: '30', set: 'dram_kind=hbm2e dram_rate_mtps=3600' };
for (let i = 2; i < process.argv.length; i += 2) options[process.argv[i].slice(2)] = process.argv[i + 1];

// What every machine has: the essay's formats and DRAM bus, one array for all products, attention fused; and --set.
const task = ['steps=4', 'guidance=off', 'image_height_px=512', 'image_width_px=512'];
const machine = [
  'fused_attention=on', 'transposition=static', 'mac_sharing=shared', 'vector_lanes=1024', 'softmax_lanes=1024', 'norm_lanes=1024',
  ...options.set.split(' '),
];
const kib = (first, last) => {
  const sizes = [];
  for (let size = first; size <= last; size *= 2) sizes.push(size * 1024);
  return sizes.join(',');
};
const rows = {
  conv_lanes_in: '32,64', conv_lanes_out: '64,128', conv_lanes_pixel: '16,32,64',
  dsram_bytes: kib(1024, 32768), stackram_bytes: kib(1024, 16384), psram_bytes: kib(1024, 16384),
  dsram_port_bits: '8192,16384', stackram_port_bits: '4096,8192', psram_port_bits: '16384,32768',
};
const common = ['cores=1,2,4', 'decoder_dram_share=0.2,0.3,0.4,0.5,0.6', ...Object.entries(rows).map(([name, values]) => `${name}=${values}`)];
const own = Object.entries(rows).map(([name, values]) => `vae_decoder_${name}=${values}`);

function best(name, axes) {
  const folder = mkdtempSync(join(tmpdir(), 'sdip-own-'));
  const file = join(folder, 'points.ndjson');
  const begun = Date.now();
  try {
    execFileSync(options.sdip, [
      'sweep', 'sd15', '--preset', 'essay', '--set', ...task, ...machine, '--axis', ...axes, '--sampling', 'random',
      '--count', options.count, '--seed', options.seed, '--objectives', 'area_mm2,throughput_fps', '--validate-seconds', '0',
      '--export', file,
    ], { stdio: ['ignore', 'ignore', 'inherit'], maxBuffer: 1 << 28 });
    const points = readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
    const fast = points.filter((point) => point.feasible && point.throughput_fps >= Number(options.fps));
    const found = fast.reduce((least, point) => (least === null || point.area_mm2 < least.area_mm2 ? point : least), null);
    const feasible = points.filter((point) => point.feasible).length;
    console.log(`${name}: ${points.length} drawn, ${feasible} feasible, ${fast.length} of ${options.fps} frames/s, ${((Date.now() - begun) / 1000).toFixed(0)} s`);
    if (found !== null) {
      const shown = ['area_mm2', 'throughput_fps', 'energy_j_per_frame', 'power_w', ...axes.map((axis) => axis.split('=')[0])];
      console.log(`  ${shown.map((key) => `${key}=${found[key]}`).join(' ')}`);
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const one = best('one size for all', common);
const apart = best('rows of the decoder', [...common, ...own]);
if (one === null || apart === null) process.exit(1);
console.log(`area ${apart.area_mm2.toFixed(1)} over ${one.area_mm2.toFixed(1)} mm2: ${(apart.area_mm2 / one.area_mm2).toFixed(3)}`);
