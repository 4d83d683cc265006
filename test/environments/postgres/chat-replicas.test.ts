// Two replicas of chat: record stores on one PostgreSQL, resources shared, each with an HTTP side of its own.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { createEgress } from '../../../src/egress/egress.ts'
import { createApp, type HttpApp } from '../../../src/http/app.ts'
import type { Ids } from '../../../src/lib/clock.ts'
import { systemClock as clock, systemIds } from '../../../src/lib/system-clock.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createMetrics } from '../../../src/observability/metrics.ts'
import type { Ports } from '../../../src/ports/index.ts'
import { createProxies } from '../../../src/proxy/index.ts'
import type { PostgresDatabase } from '../../../src/store/postgres/database.ts'
import { createPostgresRecords } from '../../../src/store/postgres/records.ts'
import { createBudgetLedger, createUsecases } from '../../../src/usecases/index.ts'
import { makeDatabase, openReplica, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { readResults, type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'
import { ownerToken, type Service, startService } from '../../http/service.ts'
import { chatJson, openChat } from '../../scenarios/chat-client.ts'

type Replica = { app: HttpApp; database: PostgresDatabase; url: string; token: string }

describe.skipIf(postgresMissing !== undefined)('two replicas on one PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    await prepareTemplate(server)
  }, 60_000)
  afterAll(() => server.remove(), 60_000)

  let shared: Service
  let vendor: ScriptedVendor
  let script: Parameters<typeof startVendor>[0]
  let replicas: [Replica, Replica]

  async function openService(database: PostgresDatabase, ids: Ids): Promise<Replica> {
    const records = createPostgresRecords({ database, clock, ids })
    const ports: Ports = { ...shared.ports, records, ids, egress: createEgress() }
    const settings = {
      allowDemoProvider: true,
      ownAddresses: () => [],
      allowNetworks: [],
      idempotencyKey: new Uint8Array(32),
    }
    const proxy = {
      defaults: { provider: '', model: '' },
      callers: { maxConcurrent: 0, requestsPerMinute: 0 },
      loop: { maxIterations: 50, maxToolCalls: 128, maxDurationMs: 60_000, toolTimeoutMs: 10_000 },
    }
    const builtinTools = { names: [], list: async () => [] }
    const parts = { ports, settings, builtinTools, ledger: createBudgetLedger(ports) }
    const usecases = createUsecases(parts)
    const app = createApp({
      ports,
      usecases,
      proxies: createProxies({ ...parts, health: usecases.health }, proxy),
      settings: { publicHosts: [], corsAllowedOrigins: [], version: '0.0.0' },
      log: createLog({ level: 'error', write: () => {} }),
      metrics: createMetrics(),
    })
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 })
    return { app, database, url, token: ownerToken }
  }

  /** The first name of a task that each replica thinks of is the same. */
  function createAlikeIds(): Ids {
    let isFirst = true
    return {
      ...systemIds,
      hex(length) {
        if (length !== 10 || !isFirst) return systemIds.hex(length)
        isFirst = false
        return 'a'.repeat(10)
      },
    }
  }

  beforeEach(async () => {
    shared = await startService()
    vendor = await startVendor((request, count) => script(request, count))
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
    await shared.call('POST /api/v1/providers', { payload: { name: 'default', spec } })
    const name = makeDatabase(server)
    const [one, other] = [await openReplica(server, name), await openReplica(server, name)]
    replicas = [await openService(one, createAlikeIds()), await openService(other, createAlikeIds())]
  })
  afterEach(async () => {
    for (const { app, database } of replicas) {
      await app.drain(1000)
      await database.close()
    }
    await vendor.close()
    await shared.stop()
  })

  const ask = (replica: Replica, path: string, method = 'GET') =>
    fetch(new URL(path, replica.url), { method, headers: { authorization: `Bearer ${replica.token}` } })

  async function readContents(replica: Replica, id: string): Promise<string[]> {
    const { transcript } = (await (await ask(replica, `/api/v1/sessions/${id}`)).json()) as { transcript: string }
    return transcript
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { content: string }).content)
  }

  it('run one turn of a session at a time, and both see the transcript [SESS-011]', async () => {
    let go = () => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    script = () => [{ wait: gate }, { text: 'heard' }]
    const refused: number[] = []
    const asked = [0, 1, 2, 3, 4, 5].map(async (index) => {
      const answer = await chatJson(replicas[index % 2 === 0 ? 0 : 1], { message: `word ${index}`, sessionId: 'both' })
      if (answer.status !== 200) refused.push(answer.status)
      return { index, ...answer }
    })
    await expect.poll(() => refused.length).toBe(5)
    go()
    const [heard, ...others] = (await Promise.all(asked)).filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(refused).toEqual([409, 409, 409, 409, 409])
    expect(vendor.requests).toHaveLength(1)
    for (const replica of replicas) {
      expect(await readContents(replica, 'both')).toEqual([`word ${heard?.index}`, 'heard'])
    }
    for (const replica of replicas) {
      await chatJson(replica, { message: 'and now?', sessionId: 'both' })
    }
    expect(vendor.requests.at(-1)?.messages.filter(({ role }) => role === 'user')).toHaveLength(3)
  })

  it('have slots of their own for turns, separate from those for calls of the proxies [LIM-016]', async () => {
    const gate = Promise.withResolvers<void>()
    script = ({ messages }) =>
      messages.some(({ content }) => content === 'wait') ? [{ wait: gate.promise }, { text: 'x' }] : [{ text: 'x' }]
    const [full, other] = replicas
    const waiting = Array.from({ length: 10 }, () => chatJson(full, { message: 'wait' }))
    await expect.poll(() => vendor.requests.length).toBe(10)
    expect((await chatJson(full, { message: 'one more' })).status).toBe(429)
    expect((await chatJson(other, { message: 'one more' })).status).toBe(200)
    const body = JSON.stringify({ model: 'default/m', messages: [{ role: 'user', content: 'hi' }] })
    const headers = { authorization: `Bearer ${full.token}`, 'content-type': 'application/json' }
    const completion = await fetch(new URL('/llmo/v1/chat/completions', full.url), { method: 'POST', headers, body })
    expect(completion.status).toBe(200)
    gate.resolve()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
  })

  it('can end a turn that the other one runs, also in a session that was named just now [SESS-005] [SESS-014]', async () => {
    script = () => [{ text: 'x' }, { wait: new Promise(() => {}) }]
    const stream = await openChat(replicas[0], { message: 'wait' })
    await stream.next('message')
    const id = stream.frames[0]?.data.sessionId ?? ''
    // A new session is made known to the others a moment after its turn has begun.
    await expect.poll(async () => (await ask(replicas[1], `/api/v1/sessions/${id}`)).status).toBe(200)
    expect((await chatJson(replicas[1], { message: 'me too', sessionId: id })).status).toBe(409)
    expect((await ask(replicas[1], `/api/v1/chat/${id}`, 'DELETE')).status).toBe(204)
    const frames = await stream.ended
    expect(frames.at(-2)?.data.error).toMatchObject({ code: 'Conflict', message: 'the turn was cancelled' })
    await expect.poll(() => vendor.aborted).toBe(1)
    for (const replica of replicas) expect((await ask(replica, `/api/v1/sessions/${id}`)).status).toBe(404)
  })

  it('give no task name twice, even when both choose the same name at once [CHAT-045]', async () => {
    const args = { name: 'same', command: ['true'], schedule: '0 0 1 1 *' }
    const make = { call: { name: 'create_container_task', args } }
    script = (request) => (readResults(request).length === 0 ? [make, make] : [{ text: 'made' }])
    for (const replica of [...replicas, ...replicas]) {
      const { body } = await chatJson(replica, { message: 'make two', sessionId: 'makers' })
      expect(body.toolCalls.map(({ result }) => result.success)).toEqual([true, true])
    }
    const list = await shared.call('GET /api/v1/tasks?limit=100')
    const names = list.json().items.map(({ metadata }: Task) => metadata.name)
    expect(new Set(names).size).toBe(8)
    expect(names.filter((name: string) => name.endsWith('-aaaaaaaaaa'))).toHaveLength(1)
  })
})
