// One cold start: node first-call.mjs BUNDLE EVENT. Prints the milliseconds of the import, and of it with the first call.
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
if (answer?.batchItemFailures?.length > 0) throw new Error('the handler failed');
console.log(`\n${JSON.stringify([importedMs - startedMs, calledMs - startedMs])}`);
process.exit(0);
