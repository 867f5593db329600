import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
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
