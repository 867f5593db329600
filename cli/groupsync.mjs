#!/usr/bin/env node
/*
 * The entry point of the command. In a checkout, it builds the sources at the first run after a change. If it cannot
 * build (a read-only folder), tsx runs the sources directly. All paths are relative to this file, so the command works
 * from any folder. The package contains only the built files. The commands `start` and `platform` run other programs.
 */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Node 22 and later cache compiled code, so the next command starts faster.
module.enableCompileCache?.();

const isCheckout = existsSync(new URL('./main.ts', import.meta.url));
const [command] = process.argv.slice(2);
if (command === 'start' || command === 'platform') process.argv.splice(2, 1);
if (command === 'start') await (isCheckout ? import('../scripts/start.mjs') : import('../dist/start.mjs'));
else if (command === 'platform') await (isCheckout ? runPlatform() : import('../dist/platform.mjs'));
else await (isCheckout ? runCheckout() : import('../dist/main.mjs'));

async function runCheckout() {
  const { runBuilt } = await import('../scripts/command.mjs');
  if (await runBuilt()) return;
  await readSources();
  await import('./main.ts');
}

async function runPlatform() {
  await readSources();
  await import('../local/platform.ts');
}

async function readSources() {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
}
