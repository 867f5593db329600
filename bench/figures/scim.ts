import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Figure, table } from '../figure.ts';

const LOAD = fileURLToPath(new URL('../emulated/scim-load.ts', import.meta.url));
const Request = z.object({ ms: z.number(), calls: z.number() });
const Measured = z.object({
  made: Request,
  removals: z.array(Request),
  perTenantPerSecond: z.number(),
  percentiles: z.tuple([z.number(), z.number(), z.number()]),
});

export const scimFigure: Figure = {
  name: 'scim',
  title: 'SCIM',
  async run() {
    const output = execFileSync(process.execPath, ['--no-warnings', '--import', 'tsx', LOAD], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { made, removals, perTenantPerSecond, percentiles } = Measured.parse(
      JSON.parse(output.trim().split('\n').at(-1) ?? ''),
    );
    const [p50, p95, p99] = percentiles;
    const removed = [...removals].sort((a, b) => a.ms - b.ms);
    return [
      'Over the local stack’s endpoint, with apply at work: two tenants with the same names at the same time, 25 requests/s',
      'each for 20 s, begun at their time whether or not those before them have ended (matching, joins and leaves, switching',
      'users on and off, new users, reads). Each answer is checked to show nothing of the other tenant.',
      '',
      table(
        ['', 'requests/s for each tenant', 'p50 ms', 'p95 ms', 'p99 ms'],
        [['25 requests/s', perTenantPerSecond, p50, p95, p99]],
      ),
      '',
      'One request that names many, before apply begins with the group:',
      '',
      table(
        ['', 'ms', 'calls to DynamoDB'],
        [
          ['POST of a group of 20,000', made.ms, made.calls],
          ...removed.map(({ ms, calls }, n) => [
            `PATCH that removes 256 of 20,000, ${['fastest', 'median', 'slowest'][n]} of 3`,
            ms,
            calls,
          ]),
        ],
      ),
    ].join('\n');
  },
};
