import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig, type TestUserConfig } from 'vitest/config'
import { LeftOut } from './test/left-out.ts'
import { LongestFirst } from './test/longest-first.ts'

/** Of the workers: a young generation that need not grow first. */
const execArgv = ['--min-semi-space-size=32', '--max-semi-space-size=32']

/** Deadlines only guard against waiting for ever, on a machine that has much else to do. */
const patient = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  execArgv,
  expect: { poll: { timeout: 30_000 } },
  // What failed is told whole: on another machine there is nothing else to go by.
  chaiConfig: { truncateThreshold: 2000 },
  setupFiles: ['test/fixtures/property-seed.ts'],
}

/** A file that a run's report goes to, for `npm run requirements`. */
const outputFile = process.env.SVC_TEST_REPORT
const reporters: TestUserConfig['reporters'] =
  outputFile === undefined ? ['default'] : ['default', ['json', { outputFile }]]

/** Files of one worker share what they import: most of a small file's time went into loading it. */
const together = { isolate: false }

/** Files that start programs wait for them a third of their time: then another file has the core. */
const maxWorkers = Math.ceil(availableParallelism() * 1.5)

/** What a project of test files is, whose files are in the folder; those that start the service start the built program. */
const project = (name: string, folder: string, globalSetup: string[] = []) => ({
  test: { ...patient, ...together, name, include: [`${folder}/**/*.test.ts`], globalSetup },
})
const builtProgram = ['test/fixtures/built-program.ts']

/**
 * A folder of test/environments is a project: its files need an environment (a database, containers, a browser, installed
 * programs), or are campaigns (kills, every page in every look) that take longer than the everyday loop can wait.
 */
const environments = readdirSync(join(import.meta.dirname, 'test', 'environments')).toSorted()

/** Of `npm test` alone, whose last lines they are. */
const leftOut = process.env.npm_lifecycle_event === 'test' ? [new LeftOut(environments)] : []

/** Files that need a cluster come after the others; where there is none they are skipped, and wait for nothing. */
const hasCluster = process.env.KUBECONFIG !== undefined
const onCluster = { ...patient, isolate: hasCluster, globalSetup: ['test/cluster/setup.ts'] }

/** They take a part of the cluster away, or fill it. */
const filledClusters = [
  'end-to-end',
  'faults',
  'guide',
  'neighbours',
  'network',
  'options',
  'outages',
  'workspace-tasks',
].map((name) => `test/cluster/${name}.test.ts`)

export default defineConfig({
  test: {
    maxWorkers,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/fixtures/temporary-folder.ts'],
    reporters: [...reporters, ...leftOut],
    projects: [
      project('unit', '{src,dashboard}'),
      project('checks', 'test/checks'),
      project('contracts', 'test/contracts'),
      project('http', 'test/http'),
      project('controllers', 'test/controllers'),
      project('scenarios', 'test/scenarios', builtProgram),
      ...environments.map((name) => project(`environment:${name}`, `test/environments/${name}`, builtProgram)),
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
