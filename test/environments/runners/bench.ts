// Runners of real processes, whose attempts are real to the HTTP side; what they do is in their prompts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, systemIds } from '../../../src/lib/system-clock.ts'
import type { AttemptKey, WorkloadState } from '../../../src/ports/tasks/workloads.ts'
import { createContainerEngine } from '../../../src/runtime/local/commands/container-engine.ts'
import { createRunnerTable } from '../../../src/runtime/local/runners/table.ts'
import { createEmbeddedWorkloads, type EmbeddedWorkloadsOptions } from '../../../src/runtime/local/workloads.ts'
import { waitFor } from '../../fixtures/time.ts'
import { aiTask, startService } from '../../http/service.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export type RunnerBench = Awaited<ReturnType<typeof openRunnerBench>>

export async function openRunnerBench(
  runners: Partial<NonNullable<EmbeddedWorkloadsOptions['runners']>> = {},
  changed: Partial<EmbeddedWorkloadsOptions> = {},
) {
  const table = createRunnerTable(systemIds)
  const service = await startService({ runners: table })
  const url = await service.listen()
  const workloads = createEmbeddedWorkloads({
    clock: systemClock,
    ids: systemIds,
    dataDir: join(service.folder, 'work-data'),
    configDir: join(service.folder, 'config'),
    instance: service.folder,
    programRoot: root,
    workerProgram: join(root, 'test/fixtures/workers/runner.ts'),
    allowUnsandboxed: false,
    engine: createContainerEngine({ sockets: [] }),
    maxConcurrent: 3,
    graceMs: 300,
    onLog: () => undefined,
    runners: { table, version: '0', count: 1, slots: 1000, memoryBytes: 512 * 1024 ** 2, ...runners },
    ...changed,
  })

  let count = 0
  /** As the controller does it: the status is stored, then the attempt is started. */
  async function start(prompt: string): Promise<AttemptKey> {
    count += 1
    const name = `task-${count}`
    await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
    const { task, token } = await service.runTask(name)
    const key = { taskUid: task.metadata.uid, attempt: 1 }
    const about = { namespace: 'default', name, uid: key.taskUid, attempt: 1, type: 'ai' }
    // The fixture reads no more of an assignment than this.
    const assignment = { api: { url, token }, task: about, loop: { prompt } } as never
    await workloads.ensure({
      key,
      namespace: 'default',
      taskName: name,
      limits: {},
      isolation: { mode: 'shared' },
      run: { kind: 'worker', assignment },
    })
    return key
  }

  const isOver = ({ phase }: WorkloadState) => phase === 'Succeeded' || phase === 'Failed'

  return {
    service,
    workloads,
    start,
    /** Once their steps have begun. */
    async startWaiting(amount: number): Promise<AttemptKey[]> {
      const keys = await Promise.all(Array.from({ length: amount }, () => start('wait')))
      await waitFor(async () => {
        const { runners: states } = await workloads.status()
        return states.reduce((sum, { known }) => sum + known, 0) === amount
      }, 'the runner names them')
      return keys
    },
    waitForEnd: (key: AttemptKey): Promise<WorkloadState> =>
      waitFor(
        async () => {
          const state = await workloads.observe(key)
          return isOver(state) && state
        },
        'the attempt has ended',
        60_000,
      ),
    async pidOfRunner(): Promise<number> {
      const { runners: states } = await workloads.status()
      return findNode(states[0]?.pid ?? 0)
    },
    async close() {
      await workloads.close()
      await service.stop()
    },
  }
}

/** The runner itself, below its sandbox. */
function findNode(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  const [first] = children
  return name === 'bwrap' && first !== undefined ? findNode(first) : pid
}
