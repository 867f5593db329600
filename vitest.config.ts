import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Left to itself vitest takes all cores but one: of two, one. Tests with a stack wait half of their time.
    maxWorkers: 2,
    // Files of one worker share what Node has loaded (AWS SDK, CDK, zod); our own modules and mocks are new in each file.
    isolate: false,
    // Whoever asks for more runs of each property waits for them.
    testTimeout: process.env['GROUPSYNC_RUNS'] === undefined ? 30_000 : 12 * 3_600_000,
    hookTimeout: 30_000,
    env: {
      CDK_VALIDATION: 'false',
      AWS_REGION: 'us-east-1',
      NO_COLOR: '1',
      // The SDK's notice about the Node of 2027 would stand between the results.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    coverage: {
      provider: 'v8',
      include: ['shared/**', 'functions/**', 'local/**', 'cli/**', 'infra/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
