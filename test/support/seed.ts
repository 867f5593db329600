import { relative } from 'node:path';
import fc from 'fast-check';
import { afterEach } from 'vitest';

/*
 * Every property draws from one seed, so `npm test` draws the same cases each time. `npm run test:explore` draws a new
 * seed, and prints for each failure the command that repeats it.
 */
const { GROUPSYNC_SEED: seed = '1', GROUPSYNC_RUNS: runs, GROUPSYNC_EXPLORES: explores } = process.env;

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });

if (explores !== undefined) {
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    const file = relative(process.cwd(), task.file.filepath);
    const variables = `GROUPSYNC_SEED=${seed} GROUPSYNC_RUNS=${runs}`;
    process.stderr.write(
      `repeat with: ${variables} npx vitest run ${file} -t ${JSON.stringify(task.name)}\n`,
    );
  });
}
