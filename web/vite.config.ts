// How the dashboard is built and tested: hashed assets under web/dist, no request to anywhere else.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.SDIP_URL ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2022',
    // The content security policy forbids data: scripts and inlined ones; images stay files as well.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { host: '127.0.0.1', proxy: { '/api': server, '/healthz': server } },
});
