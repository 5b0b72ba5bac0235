// The typed client is the one that the server's OpenAPI document gives.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

const path = (name: string) => new URL(name, import.meta.url).pathname;
const built = [process.env.SDIP_BINARY, path('../../build/release/sdip'), path('../../build/dev/sdip')];

test.skipIf(!built.some((one) => one !== undefined && existsSync(one)))('schema.d.ts is current (skipped where no sdip is built)', () => {
  expect(execFileSync('node', [path('../scripts/api.mjs'), '--check'], { encoding: 'utf8' })).toContain('current');
}, 60_000);
