// How the dashboard is built and tested: hashed assets under web/dist, no request to anywhere else.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const server = process.env.SDIP_URL ?? 'http://127.0.0.1:8080';

// The server refuses pages of other origins; to it this one's requests come from its own.
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

/** Beside each file its compressed forms, where they are smaller: the server keeps them and sends what a browser takes. */
function compressed(): Plugin {
  const forms: [string, (bytes: Buffer) => Buffer][] = [
    ['br', (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })],
    ['gz', (bytes) => gzipSync(bytes, { level: 9 })],
  ];
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir }) {
      for (const name of readdirSync(dir ?? 'dist', { recursive: true, encoding: 'utf8' })) {
        const path = join(dir ?? 'dist', name);
        if (!/\.(html|js|css|svg)$/.test(name)) continue;
        const bytes = readFileSync(path);
        for (const [ending, compress] of forms) {
          const small = compress(bytes);
          if (small.length < bytes.length) writeFileSync(`${path}.${ending}`, small);
        }
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    target: 'es2022',
    // The content security policy forbids data: scripts and inlined ones; images stay files as well.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { host: '127.0.0.1', proxy: { '/api': proxied, '/healthz': proxied } },
});
