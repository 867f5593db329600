#!/usr/bin/env node
/*
 * The command as it is installed. The sources are TypeScript and are run as they are: tsx is found beside this file,
 * not beside the current folder, and reads this project's tsconfig.json, so that the command works from anywhere.
 */
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

// The SDK's notice about the Node of 2027 is not for somebody who asks for a status.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
register({ tsconfig: fileURLToPath(new URL('../tsconfig.json', import.meta.url)) });
await import('./main.ts');
