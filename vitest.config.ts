import { defineConfig } from 'vitest/config'

/** What is waited for may be written once a second, on a machine that has much else to do. */
const expect = { poll: { timeout: 10_000 } }

/** A file that a run's report goes to, for `npm run requirements`. */
const report = process.env.SVC_TEST_REPORT

/** Files of one worker share what they import: most of a small file's time went into loading it. */
const together = { isolate: false }

const onCluster = {
  expect,
  globalSetup: ['test/cluster/setup.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
}

/** They take a part of the cluster away, or fill it. */
const filledClusters = ['test/cluster/end-to-end.test.ts', 'test/cluster/faults.test.ts']

export default defineConfig({
  test: {
    maxWorkers: '100%',
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      { test: { ...together, name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 15_000 } },
      { test: { name: 'checks', include: ['test/checks/**/*.test.ts'], testTimeout: 60_000 } },
      {
        test: { ...together, name: 'contracts', include: ['test/contracts/**/*.test.ts'], testTimeout: 30_000, expect },
      },
      { test: { ...together, name: 'http', include: ['test/http/**/*.test.ts'], testTimeout: 30_000, expect } },
      {
        test: {
          ...together,
          name: 'controllers',
          include: ['test/controllers/**/*.test.ts'],
          testTimeout: 30_000,
          expect,
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          expect,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      // On a real cluster, where KUBECONFIG names one; elsewhere these are skipped.
      {
        test: {
          ...onCluster,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          exclude: filledClusters,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...onCluster,
          name: 'cluster-filled',
          include: filledClusters,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
