// The end of an attempt, handed in by the worker's own client over a real socket.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { EndSubmit } from '../../src/contract/api/tasks/attempt-end.ts'
import { SvcError } from '../../src/errors.ts'
import type { WorkerIdentity } from '../../src/ports/identity/identity.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let url: string
let identity: WorkerIdentity
let token: string
let name: string
let count = 0
let storeEnd: Service['ports']['records']['ends']['store']

beforeAll(async () => {
  service = await startService()
  url = await service.listen()
  storeEnd = service.ports.records.ends.store
  await service.call('POST /api/v1/providers', { payload: { name: 'ends', spec: { type: 'llmo' } } })
})
afterAll(() => service.stop())
afterEach(() => {
  service.ports.records.ends.store = storeEnd
})
beforeEach(async () => {
  name = `ends-${++count}`
  await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
  ;({ token, identity } = await service.runTask(name))
})

const callOf = (id: string) => {
  return { id, provider: { namespace: 'default', name: 'ends' }, model: 'm', inputTokens: 7, outputTokens: 3 }
}
const end = () => EndSubmit.parse({ ok: true, result: 'All is well.', log: 'one\ntwo\n', usage: [callOf('1-1')] })

/** Pauses take no time. */
function openApi(doFetch = fetch) {
  const clock = { ...service.ports.clock, now: () => service.ports.clock.now(), sleep: async () => undefined }
  const { signal } = new AbortController()
  const task = { namespace: 'default', name }
  return createWorkerApi({ api: { url, token }, task, clock, signal, fetch: doFetch })
}

/** What there is of the attempt afterwards. */
async function readAll() {
  const { usage, results, logs } = service.ports.records
  const lines: string[] = []
  for await (const line of logs.read(identity.taskUid, {})) lines.push(line.text)
  const { llmCalls = 0 } = (await usage.ofTask(identity.taskUid)) ?? {}
  return { lines, llmCalls, size: (await results.get(identity.taskUid, 1))?.info.size }
}

const once = { lines: ['one', 'two'], llmCalls: 1, size: 'All is well.'.length }

it('is handed in at once, and changes nothing when it is said again', async () => {
  const api = openApi()
  for (let again = 0; again < 2; again += 1) {
    await api.submitEnd(end())
    expect(await readAll()).toEqual(once)
  }
})

it('is repeated where the connection is cut after it was stored, and counts once', async () => {
  let cuts = 2
  const api = openApi(async (input, init) => {
    const answer = await fetch(input, init)
    if (cuts-- <= 0) return answer
    await answer.arrayBuffer()
    throw new TypeError('fetch failed')
  })
  await api.submitEnd(end())
  expect([cuts < 0, await readAll()]).toEqual([true, once])
})

it('is repeated where the database is lost in the middle, and leaves nothing twice', async () => {
  const { ends } = service.ports.records
  const seen: unknown[] = []
  ends.store = async (handedIn) => {
    if (seen.length === 2) return storeEnd(handedIn)
    seen.push(await readAll())
    throw new SvcError('Unavailable', 'the database went away')
  }
  await openApi().submitEnd(end())
  expect(seen).toEqual(Array.from({ length: 2 }, () => ({ ...once, llmCalls: 0, size: undefined })))
  expect(await readAll()).toEqual(once)
})

it('of an attempt that is over is refused, and leaves nothing', async () => {
  await service.setStatus('Task', name, { phase: 'Running', attempts: 2 })
  await expect(openApi().submitEnd(end())).rejects.toMatchObject({ reason: 'Forbidden' })
  expect(await readAll()).toEqual({ lines: [], llmCalls: 0, size: undefined })
})

it('that waits for something names what it waits for, and the beginning of a line stays one', async () => {
  const wait = { kind: 'time', call: '1-a', what: 'tea', until: '2030-01-01T00:00:00.000Z' } as const
  await openApi().submitEnd({ ok: false, reason: 'Parked', message: 'it waits', waits: [wait], log: 'one\ntw' })
  expect(await service.ports.records.parkings.get(identity)).toEqual([wait])
  expect((await readAll()).lines).toEqual(['one'])
  expect(await service.ports.records.logs.unfinished(identity.taskUid)).toEqual({ attempt: 1, text: 'tw' })
})
