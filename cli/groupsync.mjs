#!/usr/bin/env node
/*
 * The command. In a checkout the sources are TypeScript and are run as they are: tsx is found beside this file, not
 * beside the current folder, and reads this project's tsconfig.json, so that the command works from anywhere. The
 * package has no sources but what was built of them. Two commands run a server of their own; every other asks one.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The SDK's notice about the Node of 2027 is not for somebody who asks for a status.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const isCheckout = existsSync(new URL('./main.ts', import.meta.url));
if (isCheckout) {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
}
const [command] = process.argv.slice(2);
if (command === 'start' || command === 'platform') process.argv.splice(2, 1);
if (command === 'start') await (isCheckout ? import('../local/start.ts') : import('../dist/start.mjs'));
else if (command === 'platform')
  await (isCheckout ? import('../local/platform.ts') : import('../dist/platform.mjs'));
else await (isCheckout ? import('./main.ts') : import('../dist/main.mjs'));
