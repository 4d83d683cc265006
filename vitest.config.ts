import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

/** Of the workers: a young generation that need not grow first. */
const execArgv = ['--min-semi-space-size=32', '--max-semi-space-size=32']

/** Deadlines only guard against waiting for ever, on a machine that has much else to do. */
const patient = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  execArgv,
  expect: { poll: { timeout: 30_000 } },
  setupFiles: ['test/fixtures/property-seed.ts'],
}

/** A file that a run's report goes to, for `npm run requirements`. */
const report = process.env.SVC_TEST_REPORT

/** Files of one worker share what they import: most of a small file's time went into loading it. */
const together = { isolate: false }

/** Files that start programs wait for them a third of their time: then another file has the core. */
const maxWorkers = Math.ceil(availableParallelism() * 1.5)

/** Files that need a cluster come after the others; where there is none they are skipped, and wait for nothing. */
const hasCluster = process.env.KUBECONFIG !== undefined
const onCluster = { ...patient, isolate: hasCluster, globalSetup: ['test/cluster/setup.ts'] }

/** They take a part of the cluster away, or fill it. */
const filledClusters = ['end-to-end', 'faults', 'options', 'workspace-tasks'].map(
  (name) => `test/cluster/${name}.test.ts`,
)

export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/fixtures/temporary-folder.ts'],
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      { test: { ...patient, ...together, name: 'unit', include: ['{src,dashboard}/**/*.test.ts'] } },
      { test: { ...patient, ...together, name: 'checks', include: ['test/checks/**/*.test.ts'] } },
      { test: { ...patient, ...together, name: 'contracts', include: ['test/contracts/**/*.test.ts'] } },
      { test: { ...patient, ...together, name: 'http', include: ['test/http/**/*.test.ts'] } },
      { test: { ...patient, ...together, name: 'controllers', include: ['test/controllers/**/*.test.ts'] } },
      {
        test: {
          ...patient,
          ...together,
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          globalSetup: ['test/fixtures/built-program.ts'],
        },
      },
      // In a real Chromium, where there is one; elsewhere these are skipped.
      {
        test: {
          ...patient,
          ...together,
          name: 'dashboard',
          include: ['test/dashboard/**/*.test.ts'],
          globalSetup: ['test/fixtures/built-program.ts'],
        },
      },
      // On a real cluster, where KUBECONFIG names one; elsewhere these are skipped.
      {
        test: {
          ...onCluster,
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          exclude: filledClusters,
          sequence: { groupOrder: hasCluster ? 1 : 0 },
        },
      },
      {
        test: {
          ...onCluster,
          name: 'cluster-filled',
          include: filledClusters,
          maxWorkers: hasCluster ? 1 : maxWorkers,
          sequence: { groupOrder: hasCluster ? 2 : 0 },
        },
      },
    ],
  },
})
