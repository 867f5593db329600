#!/usr/bin/env node
/*
 * The command. In a checkout it is built of the sources when it runs first after a change; where nothing can be built (a folder
 * that is read only), tsx runs the sources as they are. tsx and the sources are found beside this file, not beside the current folder,
 * so that the command works from anywhere. The package has no sources but what was built of them. Two commands run a
 * server of their own; every other asks one.
 */
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// The SDK's notice about the Node of 2027 is not for an operator who asks for a status.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

// Node 22 and later store what they have compiled, so the next command starts faster.
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
