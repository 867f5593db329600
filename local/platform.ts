import { runPlatform } from './platform/command.ts';

process.exitCode = await runPlatform(process.argv.slice(2));
