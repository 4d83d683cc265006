// Idempotency-Key at every POST of the contract: kept, passed on to a vendor, or refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routesByName } from '../../src/contract/api/index.ts'
import type { Route } from '../../src/contract/api/resources/route.ts'
import { systemIds } from '../../src/lib/system-clock.ts'
import { RunnerLink } from '../../src/runtime/local/runners/link.ts'
import { createRunnerTable } from '../../src/runtime/local/runners/table.ts'
import { simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let workerToken: string
const runnerToken = 'of-a-runner'
beforeAll(async () => {
  const runners = createRunnerTable(systemIds)
  const nothing = () => undefined
  runners.add(new RunnerLink({ name: 'r', credential: runnerToken, slots: 1, onSilent: nothing, onIdle: nothing }))
  service = await startService({ runners })
  await service.call('POST /api/v1/secrets', { payload: { name: 'key', stringData: { VENDOR_API_KEY: 'k' } } })
  const reviewer = { runtime: { type: 'llma-cli' }, secretRef: { name: 'key' } }
  await service.call('POST /api/v1/agents', { payload: { name: 'reviewer', spec: reviewer } })
  await service.call('POST /api/v1/agents', { payload: { name: 'analyst', spec: {} } })
  await service.call('POST /api/v1/tasks', { payload: aiTask('work') })
  workerToken = (await service.runTask('work')).token
  await service.call('POST /api/v1/tasks', { payload: aiTask('ended') })
  await service.setStatus('Task', 'ended', { phase: 'Failed', attempts: 1 })
})
afterAll(() => service.stop())

const posts = Object.entries(routesByName as Record<string, Route>).filter(([, { method }]) => method === 'POST')
const isKept = (route: Route) => 'idempotency-key' in (route.headers?.shape ?? {})
const kept = posts.filter(([, route]) => isKept(route))
const refused = posts.filter(
  ([, route]) => !isKept(route) && route.family === undefined && route.ignoresIdempotencyKey === undefined,
)

const repoURL = 'https://github.com/team/app'
/** What a creation needs besides a name; a route of the contract that keeps keys and is not here fails its test. */
const bodies: Record<string, object> = {
  createTask: { type: 'ai', prompt: 'say hello' },
  retryTask: {},
  createAgent: { spec: {} },
  createProvider: { spec: { type: 'llmo' } },
  createSkill: { spec: { description: 'notes', content: { inline: '# Notes' } } },
  createTool: { spec: { description: 'looks up', http: { url: 'https://tools.example.com' } } },
  createMonitor: { spec: { repoURL, schedule: '0 * * * *', agents: { reviewer: { name: 'reviewer' } } } },
  createRepositoryScan: { spec: { repoURL, analysisAgentRef: { name: 'analyst' } } },
}

const headers = { 'idempotency-key': 'key-1' }
const addressOf = ({ path }: Route, value: string) => `POST ${path.replaceAll(/:\w+/g, value)}`

describe.each(kept)('%s, repeated with its Idempotency-Key', (name, route) => {
  const send = (named: string) =>
    service.call(addressOf(route, 'ended'), {
      payload: { name: `${name.toLowerCase()}-${named}`, ...bodies[name] },
      headers,
    })

  it('creates one object, and with another body answers 409 [HTTP-033] [HTTP-034]', async () => {
    expect(bodies).toHaveProperty(name)
    const first = await send('first')
    expect([first.statusCode, first.headers['idempotency-replayed']], first.body).toEqual([201, undefined])
    const again = await send('first')
    expect([again.statusCode, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(again.json().metadata.uid).toBe(first.json().metadata.uid)
    const other = await send('second')
    expect([other.statusCode, other.json().error.message]).toEqual([409, expect.stringContaining('another body')])
  })
})

describe.each(refused)('%s, which keeps no Idempotency-Key', (_, route) => {
  it('refuses it and says so', async () => {
    const token = { worker: workerToken, runner: runnerToken, user: undefined, none: undefined }[route.auth]
    const type = { 'content-type': route.rawBody ?? 'application/json' }
    const call = { payload: '{}', headers: { ...type, ...headers }, ...(token && { token }) }
    const answer = await service.call(addressOf(route, 'work'), call)
    expect(answer.statusCode, answer.body).toBe(400)
    expect(answer.json().error.details).toContainEqual({
      path: 'headers.idempotency-key',
      message: expect.stringContaining('not supported by this route; leave it out'),
    })
  })
})

it('only what is itself a secret is created without regard to the key', () => {
  const ignoring = posts.filter(([, route]) => route.ignoresIdempotencyKey).map(([name]) => name)
  expect(ignoring.toSorted()).toEqual(['createSecret', 'createToken'])
})

describe.each(posts.filter(([, { family }]) => family !== undefined))('%s', (_, { path, family }) => {
  it('passes the key on to the vendor, whose answer it is', async () => {
    const proxied = await startProxied()
    try {
      await proxied.addProvider('vendor', { type: family })
      const body = { ...simpleMessage('vendor/m'), input: 'hello' }
      await (await proxied.ask(path, body, { headers: { 'x-svc-tools': 'disabled', ...headers } })).text()
      expect(proxied.upstream.received.map((received) => received.headers['idempotency-key'])).toEqual(['key-1'])
    } finally {
      await proxied.stop()
    }
  })
})
