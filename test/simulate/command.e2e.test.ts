import { expect, it } from 'vitest';
import { SEEDED_BUGS } from '../../simulate/seeded-bugs.ts';
import { startProcess } from '../local/support/process.ts';
import { PATIENCE_MS } from '../support/patience.ts';

it(
  'npm run simulate -- --planted with an unknown name exits with 2, and names the known bugs',
  async () => {
    const args = ['--import', 'tsx', 'simulate/run.ts', '--planted', 'xyzzy'];
    const { code, stderr } = await startProcess(process.execPath, args).exit;
    expect(code).toBe(2);
    for (const { name } of SEEDED_BUGS) expect(stderr).toContain(name);
  },
  PATIENCE_MS,
);
