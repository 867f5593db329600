import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    env: { CDK_VALIDATION: 'false', AWS_REGION: 'us-east-1', NO_COLOR: '1' },
    coverage: {
      provider: 'v8',
      include: ['shared/**', 'functions/**', 'local/**', 'cli/**', 'infra/**'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
