import { runDirectory } from './command.ts';

process.exitCode = await runDirectory(process.argv.slice(2));
