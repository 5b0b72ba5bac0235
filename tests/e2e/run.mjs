// The browser tests: a real server, a real browser, one line of totals at the end.
import { bestTests } from './best.mjs';
import { launch } from './browser.mjs';
import { honestTests } from './honest.mjs';
import { journeyTests } from './journey.mjs';
import { looksTests } from './looks.mjs';
import { screenTests } from './screen.mjs';
import { startServer } from './start.mjs';

const wanted = process.argv[2] ?? '';
let passed = 0;
let failed = 0;

async function runAll(tests, world) {
  for (const [sentence, body] of tests) {
    if (!sentence.includes(wanted)) continue;
    const start = Date.now();
    try {
      await body(world);
      passed += 1;
      console.log(`ok   ${sentence} (${Date.now() - start} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${sentence}\n${String(error?.stack ?? error).replace(/^/gm, '     ')}`);
    }
  }
}

let server;
let browser;
try {
  server = await startServer();
  browser = await launch();
  const world = { server, browser, origin: server.url };
  // In this order: the journey starts with an empty store and leaves a finished sweep for the rest.
  await runAll(journeyTests, world);
  await runAll(bestTests, world);
  await runAll(screenTests, world);
  await runAll(looksTests, world);
  await runAll(honestTests, world);
} catch (error) {
  failed += 1;
  console.log(`FAIL the server and the browser start\n${String(error?.stack ?? error).replace(/^/gm, '     ')}`);
} finally {
  await browser?.close();
  await server?.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
