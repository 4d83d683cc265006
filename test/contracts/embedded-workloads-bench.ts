// Embedded workloads for a suite: folders of their own, the worker fixtures, logs in a map.
import { join } from 'node:path'
import { systemClock } from '../../src/lib/system-clock.ts'
import { createContainerEngine } from '../../src/runtime/local/commands/container-engine.ts'
import {
  createEmbeddedWorkloads,
  type EmbeddedWorkloads,
  type EmbeddedWorkloadsOptions,
} from '../../src/runtime/local/workloads.ts'
import { makeFolder, removeFolder, testIds } from './embedded-bench.ts'
import type { WorkloadsBench } from './workloads.contract.ts'

export type EmbeddedBench = WorkloadsBench & {
  workloads: EmbeddedWorkloads
  folder: string
  options: EmbeddedWorkloadsOptions
}

export const workerFixture = join(import.meta.dirname, '..', 'fixtures', 'workers', 'echo.mjs')

export function openEmbeddedBench(changed: Partial<EmbeddedWorkloadsOptions> = {}): EmbeddedBench {
  const folder = makeFolder('workloads-test')
  const logs: WorkloadsBench['logs'] = new Map()
  const slowDown: WorkloadsBench['slowDown'] = {}
  const places = 3
  const options: EmbeddedWorkloadsOptions = {
    clock: systemClock,
    ids: testIds,
    dataDir: join(folder, 'data'),
    configDir: join(folder, 'config'),
    instance: folder,
    programRoot: join(import.meta.dirname, '..', '..'),
    workerProgram: workerFixture,
    allowUnsandboxed: false,
    engine: createContainerEngine({ sockets: [] }),
    maxConcurrent: places,
    graceMs: 300,
    onLog: async (key, lines) => {
      await slowDown.take?.(key, lines)
      logs.set(key.taskUid, [...(logs.get(key.taskUid) ?? []).slice(-10_000), ...lines])
    },
    ...changed,
  }
  const workloads = createEmbeddedWorkloads(options)
  const close = async () => {
    await workloads.close()
    removeFolder(folder)
  }
  return { workloads, places, logs, slowDown, folder, options, close }
}
