import { spawnSync } from 'node:child_process';

/**
 * Runs all tests with another version of Node, which npm's package `node` contains: `npm run test:node -- 24`. The
 * other arguments are the files and folders to test. The exit code is 2 if npm has no such version.
 */
const [wanted = '', ...asked] = process.argv.slice(2);
const version = /^\d+(?:\.\d+){0,2}$/.test(wanted) ? newest(wanted) : undefined;
if (version === undefined) {
  console.error(`expected a version of npm's package "node", such as 24 or 22.20.0; got "${wanted}"`);
  process.exit(2);
}
console.log(`testing with Node ${version}`);
const command = ['node', 'node_modules/vitest/vitest.mjs', 'run', ...asked];
const { status } = spawnSync('npm', ['exec', '--yes', `--package=node@${version}`, '--', ...command], {
  stdio: 'inherit',
});
process.exit(status ?? 1);

/** Returns the newest version that matches, for example 24.11.1 for 24. */
function newest(range) {
  const { status: code, stdout } = spawnSync('npm', ['view', `node@${range}`, 'version', '--json'], {
    encoding: 'utf8',
  });
  if (code !== 0 || stdout.trim() === '') return undefined;
  const versions = [JSON.parse(stdout)].flat();
  const inOrder = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return inOrder.at(-1);
}
