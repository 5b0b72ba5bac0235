// A server under slow clients and mutated uploads, by hand: node tests/bench/slow_clients.mjs --seconds 120
// Starts `sdip serve` on a free port of 127.0.0.1 and asks nothing of any other. While 200 clients trickle heads, bodies
// and uploads, idle, keep their connections busy or do not read, four others upload ONNX files with changed bytes,
// evaluate those that are accepted, and delete them. Prints how long /healthz took meanwhile, what uploads were
// answered, and whether the server is the same process with as many descriptors. Ends with 1 where it is not, where p99
// is above 100 ms, or where an answer is 500.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const { values: said } = parseArgs({ options: {
  sdip: { type: 'string', default: join(root, 'build/release/sdip') }, seconds: { type: 'string', default: '120' },
  clients: { type: 'string', default: '200' }, uploads: { type: 'string', default: '10000' },
  uploaders: { type: 'string', default: '4' }, seed: { type: 'string', default: '1' } } });
const [seconds, clients, uploads, uploaders] = [said.seconds, said.clients, said.uploads, said.uploaders].map(Number);
const folder = mkdtempSync(join(tmpdir(), 'sdip-slow-'));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

let state = Number(said.seed) >>> 0;
const random = (below) => {  // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let x = Math.imul(state ^ (state >>> 15), state | 1);
  x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
  return ((x ^ (x >>> 14)) >>> 0) % below;
};

/** ONNX's node tests, and built-in models without their weights. */
const seeds = () => {
  const files = [];
  for (const model of ['tiny-sd-text', 'tiny-sd-unet', 'tiny-sd-vae-decoder', 'resnet50', 'mobilenetv2']) {
    const file = join(folder, `${model}.onnx`);
    try {
      execFileSync(said.sdip, ['model', 'write', model, file], { stdio: 'ignore' });
      files.push(readFileSync(file));
    } catch { /* a model of another name */ }
  }
  const nodes = '/usr/share/libonnx-testdata/data/node';
  if (existsSync(nodes))
    for (const name of readdirSync(nodes)) {
      const file = join(nodes, name, 'model.onnx');
      if (existsSync(file)) files.push(readFileSync(file));
    }
  return files;
};

/** As tests/fuzz/changed_bytes.cpp: some bytes set, a piece repeated, removed or moved; one in eight as it is. */
const mutated = (original) => {
  let bytes = Buffer.from(original);
  if (random(8) === 0) return bytes;
  for (let left = 1 + random(4); left > 0 && bytes.length > 4; --left) {
    const at = random(bytes.length), length = 1 + random(Math.min(32, bytes.length - at));
    const piece = bytes.subarray(at, at + length);
    const kind = random(5);
    if (kind === 0) bytes[at] = random(256);
    if (kind === 1) bytes[at] ^= 1 << random(8);
    if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
    if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    if (kind === 4) bytes[at] = [0, 1, 127, 128, 255][random(5)];
  }
  return bytes;
};

const server = spawn(said.sdip, ['serve', '--port', '0', '--data', join(folder, 'data')], { stdio: ['ignore', 'pipe', 'pipe'] });
let exited = null, log = '';
server.on('exit', (code, signal) => { exited = signal ?? code; });
server.stderr.on('data', (text) => { log += text; });
const port = await new Promise((done, failed) => {
  let text = '';
  server.stdout.on('data', (piece) => {
    text += piece;
    const found = /127\.0\.0\.1:(\d+)/.exec(text);
    if (found) done(Number(found[1]));
  });
  server.on('exit', () => failed(new Error(`the server ended: ${log}`)));
});
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const ask = (method, path, body, type) => new Promise((done) => {
  const request = http.request({ host: '127.0.0.1', port, method, path, agent,
    headers: body ? { 'Content-Type': type, 'Content-Length': body.length } : {} }, (answer) => {
    const pieces = [];
    answer.on('data', (piece) => pieces.push(piece));
    answer.on('end', () => done({ status: answer.statusCode, text: Buffer.concat(pieces).toString() }));
    answer.on('error', () => done({ status: 0, text: '' }));
  });
  request.on('error', () => done({ status: 0, text: '' }));
  request.end(body);
});
const post = (path, body) => ask('POST', `/api/v1/${path}`, Buffer.from(JSON.stringify(body)), 'application/json');
const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;
const started = () => readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(' ')[21];
const memory = () => /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1] / 1024;

let ending = false;
const host = `Host: 127.0.0.1:${port}\r\n`;
const upload = `PUT /api/v1/models/slow HTTP/1.1\r\n${host}Content-Type: application/octet-stream\r\nContent-Length: 4000000000\r\n\r\n`;
/** What a slow client sends at first, and then every so many milliseconds; whether it reads. */
const kinds = [
  { first: 'GET /heal', then: 'x', every: 200, reads: true },
  { first: upload, then: 'x', every: 100, reads: true },
  { first: upload, then: Buffer.alloc(2000), every: 200, reads: true },
  { first: `POST /api/v1/analyses HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`, then: ' ', every: 500, reads: true },
  { first: '', then: '', every: 1000, reads: true },
  { first: `GET /healthz HTTP/1.1\r\n${host}\r\n`, then: `GET /healthz HTTP/1.1\r\n${host}\r\n`, every: 50, reads: true },
  { first: `GET /api/v1/openapi.json HTTP/1.1\r\n${host}\r\n`.repeat(50), then: '', every: 1000, reads: false },
  { first: `POST /api/v1/sensitivities HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 22\r\n\r\n{"model": "sd15-unet"}`, then: '', every: 1000, reads: true, rare: true },
];
let reconnects = 0;
const slow = async (index) => {
  const chosen = kinds[index % kinds.length], kind = chosen.rare && index >= 40 ? kinds[0] : chosen;
  while (!ending) {
    const socket = net.connect(port, '127.0.0.1');
    let closed = false;
    for (const event of ['close', 'error']) socket.on(event, () => { closed = true; });
    if (kind.reads) socket.on('data', () => {});
    else socket.pause();
    socket.write(kind.first);
    const until = Date.now() + 15000;
    while (!closed && !ending && Date.now() < until) {
      await pause(kind.every);
      if (kind.then && !closed) socket.write(kind.then);
    }
    socket.destroy();
    ++reconnects;
    await pause(100);
  }
};

/** In a thread of its own, so that the other clients' work here is not in its times. */
const taken = [];
const probe = new Worker(`
  const http = require('node:http'), { parentPort, workerData: port } = require('node:worker_threads');
  const agent = new http.Agent({ keepAlive: true });
  const ask = () => {
    const begin = performance.now(), end = (status) => {
      parentPort.postMessage({ ms: performance.now() - begin, status });
      setTimeout(ask, 20);
    };
    http.get({ host: '127.0.0.1', port, path: '/healthz', agent }, (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode));
    }).on('error', () => end(0));
  };
  ask();`, { eval: true, workerData: port });
probe.on('message', (one) => { if (!ending) taken.push(one); });

const counts = {};
const count = (what) => { counts[what] = (counts[what] ?? 0) + 1; };
let sent = 0;
const files = seeds();
const uploader = async (number) => {
  while (!ending && sent < uploads) {
    const name = `m${number}-${++sent}`;
    const answer = await ask('PUT', `/api/v1/models/${name}`, mutated(files[random(files.length)]), 'application/octet-stream');
    const code = answer.status === 201 || answer.status === 0 ? '' : ` ${JSON.parse(answer.text).code}`;
    count(`PUT ${answer.status}${code}`);
    if (answer.status !== 201) continue;
    for (const path of ['analyses', 'explanations', 'comparisons', 'sensitivities'].slice(0, random(12) === 0 ? 4 : 2)) {
      const evaluated = await post(path, { model: name, preset: ['essay', 'edge'][random(2)] });
      count(`POST ${path} ${evaluated.status}${evaluated.status < 400 || evaluated.status === 0 ? '' : ` ${JSON.parse(evaluated.text).code}`}`);
    }
    await ask('DELETE', `/api/v1/models/${name}`);
  }
};

for (const path of ['/', '/healthz', '/api/v1/version']) await ask('GET', path);
const before = { descriptors: descriptors(), started: started() };
const begin = Date.now();
const all = [...Array.from({ length: clients }, (_, i) => slow(i)), ...Array.from({ length: uploaders }, (_, i) => uploader(i))];
while (Date.now() - begin < seconds * 1000 && exited === null) await pause(200);
ending = true;
await probe.terminate();
await Promise.all(all);
agent.destroy();
await pause(4000);

const alive = exited === null, same = alive && started() === before.started;
const times = taken.map((one) => one.ms).sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(1);
const unhealthy = taken.filter((one) => one.status !== 200).length;
const bugs = Object.keys(counts).filter((what) => / 500/.test(what) || / 0$/.test(what));
console.log(`${clients} slow clients (${reconnects} connections), ${sent} uploads in ${seconds} s`);
console.log(`/healthz: ${times.length} times, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms, ${unhealthy} not 200`);
for (const what of Object.keys(counts).sort()) console.log(`  ${what}: ${counts[what]}`);
if (alive) console.log(`the same process: ${same}; descriptors ${before.descriptors} before, ${descriptors()} after; peak memory ${memory().toFixed(0)} MiB`);
else console.log(`the server ended with ${exited}`);
if (log) console.log(`its log:\n${log.slice(0, 2000)}`);
const stopping = Date.now();
server.kill('SIGTERM');
while (exited === null && Date.now() - stopping < 20000) await pause(20);
console.log(`ended ${Date.now() - stopping} ms after SIGTERM, with ${exited}`);
rmSync(folder, { recursive: true, force: true });
process.exit(same && unhealthy === 0 && Number(at(0.99)) <= 100 && bugs.length === 0 && exited === 0 ? 0 : 1);
