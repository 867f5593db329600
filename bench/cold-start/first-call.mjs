// Measures one cold start: node first-call.mjs BUNDLE EVENT. Prints three times in milliseconds: the import, the
// import with the first call, and the processor time since the process started.
import { pathToFileURL } from 'node:url';

const [bundle, event] = process.argv.slice(2);
const startedMs = performance.now();
const { handler } = await import(pathToFileURL(bundle).href);
const importedMs = performance.now();
const answer = await handler(JSON.parse(event), {
  awsRequestId: 'bench',
  getRemainingTimeInMillis: () => 60_000,
});
const calledMs = performance.now();
const { user, system } = process.cpuUsage();
if (answer?.batchItemFailures?.length > 0) throw new Error('the handler failed');
console.log(`\n${JSON.stringify([importedMs - startedMs, calledMs - startedMs, (user + system) / 1_000])}`);
process.exit(0);
