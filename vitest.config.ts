import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that use a browser, the package, or the processes of a whole stack. */
const E2E = 'test/**/*.e2e.test.ts';
const MEASURED = 'test/console/size.e2e.test.ts';
const MOCKING = filesThatMockModules('test');

/** Returns the test files that mock modules. A module can only be mocked before another module imports it. */
function filesThatMockModules(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.test.ts')).map((path) => join(folder, path));
  return files.filter((path) => readFileSync(path, 'utf8').includes('vi.mock('));
}

/** The test files that run for more than a few seconds, longest first. */
const LONG = [
  'console/pages',
  'local/package',
  'local/kill',
  'console/sign-in',
  'cli/journey',
  'simulate/small-runs',
  'infra/commands',
  'local/run',
  'simulate/many-runs',
  'console/address',
  'local/demo',
  'local/modes',
  'infra/permissions.integration',
  'simulate/directory-read',
  'operate/takeover-ways',
  'sync/crash',
  'sync/guard',
  'simulate/meetings',
  'sync/wake-up',
  'simulate/seeded-bugs',
  'sync/failures',
  'directory/reading/hour-of-faults',
  'sync/convergence',
  'sync/changed-members',
];

/** Starts long test files first. If a long file started last, the second worker would be idle while it runs. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification) => {
      const place = LONG.findIndex((name) => moduleId.includes(`/test/${name}`));
      return (project.name === 'rest' ? LONG.length + 1 : 0) + (place < 0 ? LONG.length : place);
    };
    return (await super.sort(files)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  test: {
    // Each worker loads all modules. By default, vitest would use one worker on two cores.
    maxWorkers: 2,
    // Most test files are too short for the optimizing compiler, so they use the baseline compiler (Sparkplug). The
    // engine creates many short-lived objects, so a large young generation makes garbage collection cheap.
    execArgv: ['--always-sparkplug', '--max-semi-space-size=64'],
    sequence: { sequencer: LongFirst, setupFiles: 'list' },
    projects: [
      // The files of a worker share the loaded modules, such as the AWS SDK, the CDK, zod and fast-check.
      {
        extends: true,
        test: { name: 'rest', include: ['test/**/*.test.ts'], exclude: [E2E, ...MOCKING], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'mocking',
          include: MOCKING,
          exclude: [E2E],
          isolate: false,
          setupFiles: ['test/support/fresh-modules.ts'],
        },
      },
      // Handlers keep the clients of their first call, so each of these files loads the modules again.
      {
        extends: true,
        test: {
          name: 'e2e',
          include: [E2E],
          exclude: [MEASURED],
          isolate: false,
          // These files wait for a third of their time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          setupFiles: ['test/support/fresh-modules.ts'],
        },
      },
      // These tests measure long tasks of the browser, so they run after the others.
      { extends: true, test: { name: 'e2e-measured', include: [MEASURED], sequence: { groupOrder: 2 } } },
    ],
    // More than five times the duration of the slowest test on an idle machine, so only a failing test takes so long.
    testTimeout: process.env['GROUPSYNC_RUNS'] === undefined ? 300_000 : 12 * 3_600_000,
    hookTimeout: 300_000,
    setupFiles: ['test/support/seed.ts'],
    // The example of a CDK app imports the package by its name. In a checkout, the package is not built.
    alias: { 'groupsync/infra': join(import.meta.dirname, 'test/infra/package-infra.ts') },
    env: {
      CDK_VALIDATION: 'false',
      AWS_REGION: 'us-east-1',
      NO_COLOR: '1',
      // The AWS SDK would print a notice about its support for Node versions in 2027, which hides test results.
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
