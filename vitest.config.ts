import { defineConfig } from 'vitest/config'
import { FileOrder } from './test/kit/file-order.ts'

/** Three suites: `unit` needs nothing but Node, `integration` a real API server, `e2e` a whole node with pods. */
export default defineConfig({
  test: {
    sequence: { sequencer: FileOrder },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 30_000,
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
          // Files that need the cluster alone say so: test/kit/cluster-turn.ts.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          maxConcurrency: 16,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
