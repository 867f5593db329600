import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const STACK = [
  'test/cli/journey.e2e.test.ts',
  'test/console/{pages,sign-in}.e2e.test.ts',
  'test/infra/commands.integration.test.ts',
  'test/local/{kill,stack,scim,directory,directory-entra,directory-okta}.e2e.test.ts',
  'test/local/run.integration.test.ts',
  ...filesThatMockModules('test'),
];

/** A module that another test file has loaded cannot be mocked any more: such files get modules of their own. */
function filesThatMockModules(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.test.ts')).map((path) => join(folder, path));
  return files.filter((path) => readFileSync(path, 'utf8').includes('vi.mock('));
}

/** What takes more than some seconds, longest first. */
const LONG = [
  // May wait for three minutes, and does nothing then.
  'local/kill',
  ...['console/pages', 'cli/journey', 'sync/crash', 'local/stack', 'simulate/small-runs', 'local/run'],
  ...['local/package', 'simulate/many-runs', 'sync/guard', 'sync/convergence', 'sync/wide-message'],
  ...['sync/plan.property', 'operate/explain.property', 'infra/permissions.integration'],
  ...['sync/wake-up', 'sync/failures', 'cli/outage'],
];

/** What is long begins first: begun last, one of it would keep one worker busy while the other has nothing to do. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.findIndex((name) => moduleId.includes(`/test/${name}`));
      return (project.name === 'stack' ? 0 : LONG.length + 1) + (place < 0 ? LONG.length : place);
    };
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    // Left to itself vitest takes all cores but one: of two, one. With three workers on two cores, the tests that measure
    // long tasks of the browser failed.
    maxWorkers: 2,
    // Most files end before code that is compiled late has paid. The engine creates many short-lived objects, so a large
    // young generation makes garbage collection cheap.
    execArgv: ['--always-sparkplug', '--max-semi-space-size=64'],
    sequence: { sequencer: LongFirst },
    projects: [
      // Handlers keep their clients from their first call on: a file with a stack has its modules to itself.
      { extends: true, test: { name: 'stack', include: STACK, isolate: true } },
      // All others share what is loaded once in a worker: AWS SDK, CDK, zod, fast-check.
      {
        extends: true,
        test: { name: 'rest', include: ['test/**/*.test.ts'], exclude: STACK, isolate: false },
      },
    ],
    // More than five times the idle time of the slowest test: only a failure takes so long.
    testTimeout: process.env['GROUPSYNC_RUNS'] === undefined ? 300_000 : 12 * 3_600_000,
    hookTimeout: 300_000,
    setupFiles: ['test/support/seed.ts'],
    // The example of a CDK app imports the package by its name. In a checkout, the package is not built.
    alias: { 'groupsync/infra': join(import.meta.dirname, 'test/infra/package-infra.ts') },
    env: {
      CDK_VALIDATION: 'false',
      AWS_REGION: 'us-east-1',
      NO_COLOR: '1',
      // The SDK's notice about the Node of 2027 would stand between the results.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    coverage: {
      provider: 'v8',
      include: [
        'shared/**',
        'functions/**',
        'local/**',
        'directory-simulator/**',
        'console/server/**',
        'cli/**',
        'infra/**',
      ],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
