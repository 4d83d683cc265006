// What becomes of retained workspaces when the service is killed while it has taken one for a moment.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type { ExecutionWorkspaces } from '../../src/ports/workspaces/execution-workspaces.ts'
import { runShort } from '../../src/runtime/workspaces/commands.ts'
import { releaseLost } from '../../src/runtime/workspaces/sweep.ts'
import { beginLife } from '../fixtures/workspaces/mortal.ts'
import { openWorkspaceService, specOf, sweepOnce } from '../fixtures/workspaces/service.ts'
import { makeFolder, removeFolder } from './embedded-bench.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'
import type { RecordBench } from './record-bench.ts'
import { openSqliteBench } from './sqlite-bench.ts'

const root = makeFolder('sweep')
const claim = { namespace: 'default', name: 'svc-ws-kept' }
const key = { provider: 'agent-sandbox', ...claim } as const
const attempt = { taskUid: 'uid-1', attempt: 1 }
const worker = ['/bin/sh', '-c', 'echo kept >kept; echo \'{"ok":true}\'', 'worker']
const workspaces = openLocalWorkspaces(root, { worker })
let store: RecordBench

beforeAll(async () => {
  store = await openSqliteBench()
})
afterAll(async () => {
  await workspaces.close()
  await store.close()
  removeFolder(root)
})
afterEach(async () => {
  await store.stores().workspaces.remove(key)
})

function openLife(provider: ExecutionWorkspaces = workspaces) {
  const records = store.stores().workspaces
  const providers = { 'agent-sandbox': provider }
  const workloads = openWorkspaceService({ providers, records, endsOnClose: true, findSecrets: async () => [] })
  return { providers, records, workloads }
}

/** Of a session whose task has ended. */
async function keepOne(): Promise<void> {
  const { workloads } = openLife()
  const template = { namespace: 'default', name: 'default' }
  const names = { taskUid: attempt.taskUid, taskName: 'one', namespace: 'team', token: 'made-up-token', session: 's' }
  await workloads.ensure(specOf({ provider: 'agent-sandbox', claim, template, ...names }))
  while ((await workloads.observe(attempt)).phase !== 'Succeeded') await clock.sleep(10)
  await workloads.remove(attempt)
}

const readKept = async () => {
  const { records } = openLife()
  const known = await records.get(key)
  if (known === undefined) return undefined
  await workspaces.waitUntilReady(known.facts.claim, { timeoutMs: 1000, signal: AbortSignal.timeout(1000) })
  const { stdout } = await runShort({ workspaces, clock, ids }, known.facts.claim, { command: ['cat', 'kept'] })
  return { stdout, isFree: known.holder === undefined && !known.isSeized && known.lentAt === undefined }
}

describe('a retained workspace', () => {
  it.each([
    ['before', 0],
    ['after', 1],
  ])('outlives a service that is killed just %s it was suspended', async (_when, calls) => {
    await keepOne()
    const life = beginLife()
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>()
    const provider = {
      ...workspaces,
      async suspend(...given: Parameters<ExecutionWorkspaces['suspend']>) {
        if (calls > 0) await workspaces.suspend(...given)
        kill()
        return new Promise<never>(() => undefined)
      },
    }
    const dying = openLife(provider)
    void sweepOnce({ ...dying, records: life.bind(dying.records), idleMs: 0 })
    await killed
    const next = openLife()
    expect((await next.records.get(key))?.lentAt).toBeDefined()
    // Another replica may still have it.
    expect(await sweepOnce({ ...next, clock: { ...clock, now: () => store.now() } })).toEqual([])
    expect((await next.records.get(key))?.lentAt).toBeDefined()
    expect(await releaseLost(next.records, new Date(store.now().getTime() + 1))).toBe(1)
    expect(await readKept()).toEqual({ stdout: 'kept\n', isFree: true })
    expect(await sweepOnce({ ...next, idleMs: 0 })).toEqual([])
    expect((await next.records.get(key))?.facts).toMatchObject({ isSuspended: true })
  })

  it('is given back by the sweep of any replica when whoever took it has not come back for long', async () => {
    await keepOne()
    const { records } = openLife()
    await records.lend(key)
    // The clock of the sweep is months ahead of the records'.
    expect(await sweepOnce(openLife())).toEqual([])
    expect(await readKept()).toEqual({ stdout: 'kept\n', isFree: true })
  })

  it('that cannot be suspended is kept as it is, and tried again', async () => {
    await keepOne()
    const suspend = () => Promise.reject(new Error('the control service is away'))
    const refused = openLife({ ...workspaces, suspend })
    expect(await sweepOnce({ ...refused, idleMs: 0 })).toEqual(['the control service is away'])
    expect(await readKept()).toEqual({ stdout: 'kept\n', isFree: true })
    expect(await sweepOnce({ ...openLife(), idleMs: 0 })).toEqual([])
    expect((await refused.records.get(key))?.facts).toMatchObject({ isSuspended: true })
  })
})
