// Tools whose MCP server runs in an actor, with the whole service and its workers: the protocol's reference server in an
// actor of the double, called by ai tasks and proxies.
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openEmbedded } from '../../../src/compose/embedded.ts'
import { type RunningService, startService } from '../../../src/compose/service.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import type { Tool } from '../../../src/contract/kinds/tools/tool.ts'
import { createLog } from '../../../src/observability/log.ts'
import { type ActorsDouble, type OpenedActors, openActors, startActors } from '../../fixtures/actors/actors.ts'
import { waitFor } from '../../fixtures/time.ts'
import { makeFolder, removeFolder } from '../../scenarios/service.ts'

const everything = fileURLToPath(new URL('../../fixtures/actors/everything.mjs', import.meta.url))
const weather = fileURLToPath(new URL('../../fixtures/actors/mcp-server.mjs', import.meta.url))
const owner = `owner-${Math.random().toString(36).slice(2)}`
const folder = makeFolder()

let double: ActorsDouble
let actors: OpenedActors
let service: RunningService

beforeAll(async () => {
  const run = (program: string) => ({ token: '', command: [process.execPath, program] })
  double = await startActors({
    workloads: { 'templates/everything': run(everything), 'templates/weather': run(weather) },
  })
  const plain = { namespace: 'templates', labels: {}, annotations: {}, variables: [], phase: 'Ready' }
  for (const name of ['everything', 'weather']) double.templates.set(`templates/${name}`, { ...plain, name })
  actors = openActors(double)
  const paths = { dataDir: join(folder, 'data'), configDir: join(folder, 'config') }
  const flags = { mode: 'embedded', port: 0, bootstrapToken: owner, allowNetwork: ['127.0.0.0/8'], ...paths }
  const config = loadConfig({ flags, env: {} })
  const log = createLog({ level: 'error' })
  const mode = await openEmbedded(config, log)
  service = await startService(config, { ...mode, ports: { ...mode.ports, toolActors: actors.toolActors } }, log)
  await post('providers', 'demo', { type: 'demo', defaultModel: 'demo' })
  await post('secrets', 'keys', undefined, { stringData: { token: `key-${owner}` } })
  await makeTool('echo', 'everything', { http: { authSecretRef: { name: 'keys', key: 'token' } } })
})
afterEach(() => double.router.setIntercept(() => false))
afterAll(async () => {
  await service?.stop()
  await actors?.close()
  await double?.stop()
  removeFolder(folder)
})

async function call<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
  const headers = { authorization: `Bearer ${owner}`, 'content-type': 'application/json' }
  const answer = await fetch(new URL(path, service.url), {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json')
  return { status: answer.status, body: (isJson ? JSON.parse(text) : text) as T }
}

async function post(noun: string, name: string, spec?: object, more: object = {}): Promise<void> {
  const { status, body } = await call('POST', `/api/v1/${noun}`, { name, ...(spec && { spec }), ...more })
  expect([status, body]).toEqual([201, expect.anything()])
}

function toolWhen(name: string, want: (tool: Tool) => boolean, namespace = 'default'): Promise<Tool> {
  return waitFor(async () => {
    const { body } = await call<Tool>('GET', `/api/v1/tools/${name}?namespace=${namespace}`)
    return want(body) && body
  }, `the tool ${name}`)
}

async function makeTool(name: string, template: string, rest: object = {}, namespace = 'default'): Promise<Tool> {
  const spec = { description: `the tool ${name}`, mcp: { actor: { templateRef: { name: template } } }, ...rest }
  await post('tools', name, spec, { namespace })
  return toolWhen(name, ({ status }) => status?.available === true, namespace)
}

let count = 0
async function start(tool: string, args: object, namespace = 'default'): Promise<string> {
  count += 1
  const prompt = `call ${tool} ${JSON.stringify(args)}`
  const spec = { type: 'ai', prompt, ai: { providerRef: { name: 'demo', namespace: 'default' }, tools: [tool] } }
  await post('tasks', `calls-${count}`, spec, { namespace })
  return `calls-${count}`
}

async function finish(name: string, namespace = 'default'): Promise<string> {
  const path = `/api/v1/tasks/${name}`
  const task = await waitFor(async () => {
    const { body } = await call<Task>('GET', `${path}?namespace=${namespace}`)
    return ['Succeeded', 'Failed'].includes(body.status?.phase ?? '') && body
  }, `${name} to end`)
  expect(task.status?.phase).toBe('Succeeded')
  return String((await call<{ result: string }>('GET', `${path}/result?namespace=${namespace}`)).body.result)
}

const ask = async (tool: string, args: object, namespace?: string) =>
  finish(await start(tool, args, namespace), namespace)

describe('a tool whose reference server runs in an actor', () => {
  it('is called by ai tasks and by the proxy, by its name, in sessions that end, with its token', async () => {
    const { status } = await toolWhen('echo', () => true)
    expect(status).toMatchObject({ endpoint: `${double.router.url}/mcp`, actor: { provider: 'actor' } })
    double.router.seen.length = 0
    expect(await ask('echo', { message: 'hello actor' })).toContain('Echo: hello actor')
    const messages = [{ role: 'user', content: 'call echo {"message":"by proxy"}' }]
    const answer = await call('POST', '/llmo/v1/chat/completions', { model: 'demo/demo', messages })
    expect(JSON.stringify(answer.body)).toContain('Echo: by proxy')
    const host = status?.actor?.routeHost
    expect(
      double.router.seen.filter((one) => one.host !== host || one.authorization !== `Bearer key-${owner}`),
    ).toEqual([])
    expect(double.router.seen.filter(({ method }) => method === 'DELETE').length).toBeGreaterThan(0)
  })

  const atCalls = (reply: (response: ServerResponse) => void) =>
    double.router.setIntercept(({ method }, response) => {
      if (method !== 'POST') return false
      reply(response)
      return true
    })

  it.each<[string, (response: ServerResponse) => void]>([
    ['garbage', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('PK no JSON')],
    [
      'a flood',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(11 * 1_048_576)),
    ],
    [
      'a flood of events',
      (response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: x\n\n'.repeat(1_500_000)),
    ],
    ['huge headers', (response) => response.writeHead(200, { 'x-much': 'x'.repeat(100_000) }).end('{}')],
    [
      'nothing of what was asked',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"jsonrpc":"2.0","id":"other","result":{}}'),
    ],
    ['that it cannot be reached', (response) => response.writeHead(503).end('upstream connect error')],
  ])('that answers %s: the call fails, the task goes on, and the next call works', async (_what, reply) => {
    atCalls(reply)
    expect(await ask('echo', { message: 'unheard' })).not.toContain('Echo: unheard')
    double.router.setIntercept(() => false)
    await toolWhen('echo', ({ status }) => status?.available === true)
    expect(await ask('echo', { message: 'again' })).toContain('Echo: again')
  })

  it('whose answer never ends is given up after its timeout', async () => {
    const timers: NodeJS.Timeout[] = []
    await makeTool('get-sum', 'everything', { http: { timeout: '5s' } })
    atCalls((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      timers.push(setInterval(() => response.write(': still\n\n'), 50))
    })
    expect(await ask('get-sum', { a: 2, b: 40 })).toContain('did not answer in 5 s')
    for (const timer of timers) clearInterval(timer)
    double.router.setIntercept(() => false)
    await toolWhen('get-sum', ({ status }) => status?.available === true)
    expect(await ask('get-sum', { a: 2, b: 40 })).toContain('The sum of 2 and 40 is 42')
  })

  it('whose actor is lost in mid-call: the call fails, and the actor is there again', async () => {
    const long = 'trigger-long-running-operation'
    const { status } = await makeTool(long, 'everything')
    const reached = double.gate.hold(/^before POST/, 3)
    const name = await start(long, { duration: 300, steps: 2 })
    await reached
    double.gate.open()
    await double.world.losePod({ atespace: 'default', name: status?.actor?.actorID ?? '' })
    expect(await finish(name)).not.toContain('completed')
    expect(await ask(long, { duration: 0.1, steps: 1 })).toContain('completed')
  })
})

describe('tools of the same name', () => {
  it('in two namespaces have servers of their own; each goes with its tool', async () => {
    const [here, there] = [await makeTool('weather', 'weather'), await makeTool('weather', 'weather', {}, 'team-b')]
    expect(here.status?.actor?.actorID).not.toBe(there.status?.actor?.actorID)
    const mine = await ask('weather', { city: 'Oslo' })
    const theirs = await ask('weather', { city: 'Oslo' }, 'team-b')
    expect([mine, theirs].map((text) => text.includes(String(here.status?.actor?.routeHost)))).toEqual([true, false])
    await call('DELETE', '/api/v1/tools/weather?namespace=team-b')
    await waitFor(
      () => double.world.find({ atespace: 'team-b', name: there.status?.actor?.actorID ?? '' }) === undefined,
      'its actor to go',
    )
    expect(await ask('weather', { city: 'Bergen' })).toContain('Bergen')
  })
})
