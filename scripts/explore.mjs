import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

/**
 * Runs the property tests with a new seed, and with 100 times as many runs as `npm test`. GROUPSYNC_SEED repeats an
 * earlier run. GROUPSYNC_RUNS sets the number of runs of each property. The arguments are the files and folders to
 * test.
 */
const { GROUPSYNC_SEED = String(randomInt(2 ** 31)), GROUPSYNC_RUNS = '10000' } = process.env;
const asked = process.argv.slice(2);
const folders = ['test/domain', 'test/contract', 'test/scim', 'test/sync', 'test/operate'];

console.log(`exploring with GROUPSYNC_SEED=${GROUPSYNC_SEED} GROUPSYNC_RUNS=${GROUPSYNC_RUNS}`);
const { status } = spawnSync('npx', ['vitest', 'run', ...(asked.length > 0 ? asked : folders)], {
  stdio: 'inherit',
  env: { ...process.env, GROUPSYNC_SEED, GROUPSYNC_RUNS, GROUPSYNC_EXPLORES: 'yes' },
});
process.exit(status ?? 1);
