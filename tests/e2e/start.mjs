// Starts `sdip serve` on a free port with a data folder of its own, and stops it.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../../', import.meta.url).pathname;

/** The program under test: $SDIP_BINARY, or the newest build there is. */
export function sdipBinary() {
  const candidates = [process.env.SDIP_BINARY, join(root, 'build/dev/sdip'), join(root, 'build/release/sdip')];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (!found) throw new Error(`no sdip program: build it first, or name one in SDIP_BINARY (looked for ${candidates.slice(1).join(', ')})`);
  return found;
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const answers = async (url) => {
  try {
    return (await fetch(`${url}healthz`)).ok;
  } catch {
    return false;
  }
};

export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'sdip-e2e-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const child = spawn(sdipBinary(), ['serve', '--port', String(port), '--data', join(folder, 'data')], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let ended = null;
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  child.on('error', (error) => (ended = error.message));
  child.on('exit', (code, signal) => (ended = `ended with ${code ?? signal}`));
  const deadline = Date.now() + 60_000;
  while (!(await answers(url))) {
    if (ended !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      throw new Error(`sdip serve ${ended ?? 'did not answer in 20 s'}\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const stop = async () => {
    if (ended === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await gone;
      clearTimeout(timer);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, folder, stop, signal: (name) => child.kill(name), said: () => said };
}
