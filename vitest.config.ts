import { defineConfig } from 'vitest/config'

/** Three suites: `unit` needs nothing but Node, `integration` a real API server, `e2e` a whole node with pods. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 10_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/kit/control-plane-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/kit/cluster-setup.ts'],
          fileParallelism: false,
          maxConcurrency: 16,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
