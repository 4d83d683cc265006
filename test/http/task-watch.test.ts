// Who waits for tasks: told of their end by the one live stream, whatever happens to the tasks or the stream meanwhile.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiClient } from '../../src/client/client.ts'
import { type WatchedTask, watchTasks } from '../../src/client/task-watch.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let mayList = true
const authorizer: Authorizer = {
  authorize: async (_caller, { verb }) =>
    verb === 'list' && !mayList ? { allowed: false, reason: 'no lists' } : { allowed: true },
}
const ring = { changes: 20, characters: 10_000_000 }

let service: Service
let url: string
beforeAll(async () => {
  service = await startService({ http: { heartbeatMs: 50 }, identity: { authorizer }, ring })
  url = await service.listen()
})
afterAll(() => service.stop())
beforeEach(() => {
  mayList = true
})

let count = 0
async function make(name = `task-${++count}`): Promise<Task> {
  return (await service.call('POST /api/v1/tasks', { payload: aiTask(name) })).json()
}

const end = (task: Task, phase: 'Succeeded' | 'Failed' | 'Running' = 'Succeeded') =>
  service.setStatus('Task', task.metadata.name, { phase, attempts: 1 })

async function erase({ metadata }: Task): Promise<void> {
  const task = await service.ports.resources.get('Task', metadata)
  if (task === undefined) throw new Error('it is not there')
  const { finalizers: _, ...rest } = task.metadata
  await service.ports.resources.update('Task', { ...task, metadata: rest })
  await service.ports.resources.remove('Task', metadata)
}

type Opened = { path: string; status: number; cut(): void }

/** Waits for the tasks; every request of it is kept, goes out once `ready` is done, and its stream can be cut. */
function wait(tasks: readonly Task[], ready = async () => {}) {
  const opened: Opened[] = []
  const fetchKept: typeof fetch = async (input, init) => {
    await ready()
    const gone = new AbortController()
    const signal = AbortSignal.any([gone.signal, ...(init?.signal ? [init.signal] : [])])
    const answer = await fetch(input, { ...init, signal })
    opened.push({ path: new URL(String(input)).pathname, status: answer.status, cut: () => gone.abort() })
    return answer
  }
  const client = createApiClient({ url, token: ownerToken, fetch: fetchKept })
  const told: WatchedTask[] = []
  const over = (async () => {
    for await (const state of watchTasks(client, tasks, new AbortController().signal)) told.push(state)
  })()
  const log = () => told.map(({ task, is }) => `${task.metadata.name} ${is}`)
  return { opened, over, log, told, until: (line: string) => waitFor(() => log().includes(line), line) }
}

describe('whoever waits for tasks', () => {
  it('is told of each state, and no more once all have ended, over one stream', async () => {
    const tasks = [await make('one'), await make('two'), await make('three')]
    await make('four')
    const waiting = wait(tasks)
    for (const { metadata } of tasks) await waiting.until(`${metadata.name} there`)
    await end(tasks[1] as Task, 'Running')
    for (const task of tasks.toReversed()) await end(task, task === tasks[0] ? 'Failed' : 'Succeeded')
    await waiting.over
    expect(waiting.log().slice(3)).toEqual(['two there', 'three ended', 'two ended', 'one ended'])
    expect(waiting.told.at(-1)?.task.status?.phase).toBe('Failed')
    expect(waiting.opened.map(({ path }) => path)).toEqual(['/api/v1/watch'])
  })

  it('is told at once of what ended, or was deleted, before', async () => {
    const [ended, deleted, replaced] = [await make(), await make(), await make()]
    await end(ended)
    await erase(deleted)
    await erase(replaced)
    await make(replaced.metadata.name)
    const waiting = wait([ended, deleted, replaced])
    await waiting.over
    const names = [ended, deleted, replaced].map(({ metadata }) => metadata.name)
    expect(waiting.log()).toEqual([`${names[0]} ended`, `${names[1]} gone`, `${names[2]} gone`])
  })

  it('is told that one is deleted while it waits', async () => {
    const task = await make()
    const waiting = wait([task])
    await waiting.until(`${task.metadata.name} there`)
    await erase(task)
    await waiting.over
    expect(waiting.log().at(-1)).toBe(`${task.metadata.name} gone`)
  })

  it('begins anew where the service no longer knows what came while the stream was lost', async () => {
    const [ended, deleted, left] = [await make(), await make(), await make()]
    const { promise: forgotten, resolve: forget } = Promise.withResolvers<void>()
    let isCut = false
    const waiting = wait([ended, deleted, left], async () => (isCut ? forgotten : undefined))
    await waiting.until(`${left.metadata.name} there`)
    await waitFor(() => waiting.opened.length === 1)
    isCut = true
    waiting.opened[0]?.cut()
    await end(ended)
    await erase(deleted)
    for (let index = 0; index <= ring.changes; index += 1) await make()
    forget()
    await waitFor(() => waiting.log().includes(`${deleted.metadata.name} gone`), 'the watch to begin anew')
    await end(left)
    await waiting.over
    expect(waiting.log()).toContain(`${ended.metadata.name} ended`)
    expect(waiting.opened.map(({ status }) => status)).toEqual([200, 410, 200])
  })

  it('is told by their timelines where it may read tasks and not list them', async () => {
    mayList = false
    const [first, second, deleted] = [await make(), await make(), await make()]
    const waiting = wait([first, second, deleted])
    await waitFor(() => waiting.opened.length === 2)
    expect(waiting.opened.map(({ path, status }) => [path, status])).toEqual([
      ['/api/v1/watch', 403],
      [`/api/v1/tasks/${first.metadata.name}/events`, 200],
    ])
    await erase(deleted)
    await end(second, 'Failed')
    await end(first)
    await waiting.over
    const names = [first, second, deleted].map(({ metadata }) => metadata.name)
    expect(waiting.log()).toEqual([`${names[0]} ended`, `${names[1]} ended`, `${names[2]} gone`])
  })

  it('waits for more tasks than one stream can name', async () => {
    const tasks: Task[] = []
    for (let index = 0; index < 60; index += 1) tasks.push(await make())
    const waiting = wait(tasks)
    for (const task of tasks) await end(task)
    await waiting.over
    expect(new Set(waiting.log().filter((line) => line.endsWith('ended'))).size).toBe(60)
  })
})
