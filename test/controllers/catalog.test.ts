// What agents, providers, tools and skills say of themselves.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Kind, ResourceOf } from '../../src/contract/kinds/index.ts'
import { createProviderControllers } from '../../src/controllers/providers/controller.ts'
import { defaultResourceControllerSettings } from '../../src/controllers/resources/settings.ts'
import type { ProviderNote } from '../../src/ports/providers/provider-state.ts'
import { listOf, type ScriptedServer, startScriptedServer } from '../fixtures/mcp/scripted-server.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
let server: Server
let url: string
let looks: string[]

const egress = { allowNetworks: ['127.0.0.1/32'], deny: [] }

beforeEach(async () => {
  looks = []
  server = createServer((request, response) => {
    looks.push(`${request.method} ${request.url}`)
    response.writeHead(405).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  bench = await openBench({ withCatalog: true, catalog: { egress } })
})
afterEach(async () => {
  await bench.dispose()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const get = <K extends Kind>(kind: K, name: string) => bench.resources.get(kind, { namespace: 'default', name })

function when<K extends Kind>(kind: K, name: string, want: (object: ResourceOf<K>) => boolean) {
  return waitFor(async () => {
    const object = await get(kind, name)
    return object !== undefined && want(object) ? object : undefined
  }, `${kind} ${name} is as wanted`)
}
const readyWhen = (kind: 'Agent' | 'Provider', name: string, ready: boolean) =>
  when(kind, name, (object) => object.status?.ready === ready)

function reasonOf(object: { status?: { conditions?: { type: string; message: string }[] | undefined } | undefined }) {
  return object.status?.conditions?.find((condition) => condition.type === 'Ready')?.message
}

describe('a skill', () => {
  it('has the hash of its content, and a warning when that is large', async () => {
    await bench.create('Skill', 'small', { description: 'd', content: { inline: 'x' } })
    const small = await when('Skill', 'small', ({ status }) => status?.phase === 'Ready')
    expect(small.status?.contentHash).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(small.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'ContentSizeWarning', status: 'False' },
    ])
    await bench.create('Skill', 'large', { description: 'd', content: { inline: 'x'.repeat(10_241) } })
    const large = await when('Skill', 'large', ({ status }) => status?.phase === 'Ready')
    expect(large.status?.conditions?.[1]).toMatchObject({ type: 'ContentSizeWarning', status: 'True' })
  })

  it('is in error while one of its file paths leads out of its folder', async () => {
    await bench.create('Skill', 'odd', { description: 'd', content: { inline: 'x', files: { '../a': 'x' } } })
    const odd = await when('Skill', 'odd', ({ status }) => status?.phase === 'Error')
    expect(reasonOf(odd)).toContain('"../a"')
    const content = { inline: 'x', files: { a: 'x' } }
    await bench.resources.update('Skill', { ...odd, spec: { ...odd.spec, content } })
    await when('Skill', 'odd', ({ status }) => status?.phase === 'Ready')
  })
})

describe('a provider', () => {
  it('is ready once its key exists, and until then says what is missing', async () => {
    await bench.create('Provider', 'vendor', { type: 'llmo', baseURL: url, secretRef: { name: 'keys' } })
    const lacking = await readyWhen('Provider', 'vendor', false)
    const missing = 'secret "keys" in namespace "default", named by provider "vendor", does not exist; create it'
    expect(lacking.status).toMatchObject({ message: missing })
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { other: 'x' } })
    await when('Provider', 'vendor', ({ status }) => /has no value under "api-key"/.test(status?.message ?? ''))
    await bench.secrets.remove({ namespace: 'default', name: 'keys' })
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { 'api-key': 'sk-1' } })
    const ready = await readyWhen('Provider', 'vendor', true)
    expect(ready.status).toMatchObject({
      conditions: [{ type: 'Ready', status: 'True', reason: 'ValidationSucceeded' }, { type: 'Reachable' }],
    })
    expect(JSON.stringify(ready)).not.toContain('sk-1')
  })

  it('reads its key once in each check', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { 'api-key': 'sk-1' } })
    await bench.create('Provider', 'vendor', { type: 'llmo', baseURL: url, secretRef: { name: 'keys' } })
    await bench.pause()
    const tryProvider = async () => ({ models: [] })
    const listMcpTools = async () => ({ tools: [], leftOut: [] })
    const settings = defaultResourceControllerSettings
    const controllers = createProviderControllers({ ...bench, tryProvider, listMcpTools, settings })
    const reads = vi.spyOn(bench.secrets, 'read')
    for (const controller of controllers) {
      reads.mockClear()
      await controller.reconcile('default/vendor', new AbortController().signal)
      expect(reads, controller.name).toHaveBeenCalledTimes(1)
    }
  })

  it('is tried, and reports when it answered [PROV-011]', async () => {
    await bench.create('Provider', 'local', { type: 'llmo', baseURL: url })
    const reached = await when('Provider', 'local', ({ status }) => status?.lastReached !== undefined)
    expect(reached.status).toMatchObject({ ready: true, lastReached: '2026-03-01T12:00:00.000Z' })
    expect(reached.status?.conditions?.[1]).toMatchObject({ type: 'Reachable', status: 'True' })
    expect(looks).toEqual(['GET /v1/models'])
  })

  it('is not ready when its address is refused, or does not answer', async () => {
    await bench.create('Provider', 'refused', { type: 'llmo', baseURL: 'http://169.254.169.254/v1' })
    expect(reasonOf(await readyWhen('Provider', 'refused', false))).toContain('169.254.169.254')
    await bench.create('Provider', 'away', { type: 'llmo', baseURL: 'http://127.0.0.1:9/v1' })
    const away = await when('Provider', 'away', ({ status }) => status?.ready === false)
    expect(reasonOf(away)).toContain('127.0.0.1')
    expect(away.status?.lastError).toContain('127.0.0.1')
    expect(away.status?.conditions?.[1]).toMatchObject({ type: 'Reachable', status: 'False' })
  })

  it('shows a cool-down with its reason at once, and its end at once [PROV-011]', async () => {
    await bench.create('Provider', 'busy', { type: 'llmo', baseURL: url })
    await readyWhen('Provider', 'busy', true)
    await bench.jump(1000)
    const until = new Date(bench.clock.now().getTime() + 60_000)
    const key = { namespace: 'default', name: 'busy' }
    await bench.records.rateLimits.coolDown(key, {
      until,
      reason: '429: slow down',
      failure: 'RateLimited',
      asked: true,
    })
    const cooling = await when('Provider', 'busy', ({ status }) => status?.coolingDownUntil !== undefined)
    expect(cooling.status).toMatchObject({ lastError: '429: slow down', coolingDownUntil: until.toISOString() })
    await bench.jump(60_000)
    const after = await when('Provider', 'busy', ({ status }) => status?.coolingDownUntil === undefined)
    expect(after.status?.lastError).toBe('429: slow down')
    await bench.jump(1000)
    await bench.records.providerHealth.note([{ provider: key, goodAt: bench.clock.now(), failures: 0 }])
    const reachedAt = bench.clock.now().toISOString()
    const answered = await when('Provider', 'busy', ({ status }) => status?.lastReached === reachedAt)
    expect(answered.status?.lastError).toBeUndefined()
  })

  it('shows failing calls with their reason at once, and at once when they are answered again [PROV-011]', async () => {
    await bench.create('Provider', 'locked', { type: 'llmo', baseURL: url })
    const ready = await readyWhen('Provider', 'locked', true)
    expect(ready.status?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Reachable'])
    const note = (more: Omit<ProviderNote, 'provider'>) =>
      bench.records.providerHealth.note([{ provider: { namespace: 'default', name: 'locked' }, ...more }])
    const failedAt = bench.clock.now()
    await note({ failed: { at: failedAt, reason: 'HTTP 401: bad key' }, failures: 2 })
    const failing = await when('Provider', 'locked', ({ status }) => status?.lastError !== undefined)
    const message = 'the last 2 calls failed: HTTP 401: bad key'
    expect(failing.status).toMatchObject({
      ready: false,
      message: 'HTTP 401: bad key',
      lastError: 'HTTP 401: bad key',
      lastErrorAt: failedAt.toISOString(),
      conditions: [
        { type: 'Ready', status: 'False', reason: 'CallsFail' },
        { type: 'Reachable', status: 'True' },
        { type: 'Answering', status: 'False', reason: 'CallsFail', message },
      ],
    })
    await bench.jump(5000)
    const goodAt = bench.clock.now()
    await note({ goodAt, failures: 0 })
    const answering = await when('Provider', 'locked', ({ status }) => status?.lastReached === goodAt.toISOString())
    expect(answering.status).toMatchObject({
      conditions: [
        { type: 'Ready' },
        { type: 'Reachable' },
        { type: 'Answering', status: 'True', lastTransitionTime: '2026-03-01T12:00:05Z' },
      ],
    })
    expect([answering.status?.lastError, answering.status?.lastErrorAt]).toEqual([undefined, undefined])
  })

  it('reports the last answered call in its next check, though nobody is notified of it [PROV-011]', async () => {
    await bench.create('Provider', 'steady', { type: 'llmo', baseURL: url })
    await readyWhen('Provider', 'steady', true)
    const provider = { namespace: 'default', name: 'steady' }
    await bench.records.providerHealth.note([{ provider, goodAt: bench.clock.now(), failures: 0 }])
    await bench.jump(10_000)
    const goodAt = bench.clock.now()
    await bench.records.providerHealth.note([{ provider, goodAt, failures: 0 }])
    await waitFor(async () => {
      await bench.jump(5000)
      return (await get('Provider', 'steady'))?.status?.lastReached === goodAt.toISOString() ? true : undefined
    }, 'the status tells of the later call')
  })

  it('is not blamed for the calls of an earlier provider of the same name', async () => {
    const provider = { namespace: 'default', name: 'again' }
    const failed = { at: bench.clock.now(), reason: 'HTTP 401' }
    await bench.records.providerHealth.note([{ provider, failed, failures: 1 }])
    await bench.jump(2000)
    await bench.create('Provider', 'again', { type: 'llmo', baseURL: url })
    const again = await when('Provider', 'again', ({ status }) => status?.ready === true)
    expect(again.status?.lastError).toBeUndefined()
    expect(again.status?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Reachable'])
  })

  it('is not written when a check finds nothing new', async () => {
    await bench.create('Provider', 'quiet', { type: 'llmo', baseURL: url })
    const { metadata } = await readyWhen('Provider', 'quiet', true)
    for (let looked = 0; looked < 5; looked += 1) {
      await bench.jump(30_000)
      await bench.create('Skill', `s${looked}`, { description: 'd', content: { inline: 'x' } })
      await when('Skill', `s${looked}`, ({ status }) => status?.phase === 'Ready')
    }
    expect((await get('Provider', 'quiet'))?.metadata.resourceVersion).toBe(metadata.resourceVersion)
  })
})

describe('a tool', () => {
  it('is available while its endpoint gives any answer, and is checked every five minutes [TOOL-018] [TOOL-019]', async () => {
    await bench.create('Tool', 'weather', { description: 'd', http: { url } })
    const there = await when('Tool', 'weather', ({ status }) => status?.available === true)
    expect(there.status).toMatchObject({ endpoint: url, lastCheck: '2026-03-01T12:00:00.000Z' })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await bench.jump(299_000)
    expect((await get('Tool', 'weather'))?.status?.available).toBe(true)
    await bench.jump(1000)
    const gone = await when('Tool', 'weather', ({ status }) => status?.available === false)
    expect(gone.status?.error).toContain('127.0.0.1')
    expect(looks).toEqual(['HEAD /v1'])
  })

  it('is not available when its address is refused, its secret is missing or actors are needed', async () => {
    await bench.create('Tool', 'inside', { description: 'd', http: { url: 'http://10.0.0.1/' } })
    const inside = await when('Tool', 'inside', ({ status }) => status?.available === false)
    expect(inside.status?.error).toContain('10.0.0.1')
    await bench.create('Tool', 'keyed', { description: 'd', http: { url, authSecretRef: { name: 'k', key: 't' } } })
    const keyed = await when('Tool', 'keyed', ({ status }) => status?.available === false)
    expect(keyed.status?.error).toBe('secret "k" does not exist; create it')
    await bench.secrets.create({ namespace: 'default', name: 'k', stringData: { t: 'x' } })
    await when('Tool', 'keyed', ({ status }) => status?.available === true)
    await bench.create('Tool', 'mcp', { description: 'd', mcp: { actor: { templateRef: { name: 'x' } } } })
    const mcp = await when('Tool', 'mcp', ({ status }) => status?.available === false)
    expect(mcp.status?.error).toContain('mcp.actor needs actors, which are not')
  })
})

describe('a tool that is an MCP server', () => {
  let mcp: ScriptedServer
  const secret = 'token-of-the-server-0123'
  beforeEach(async () => {
    mcp = await startScriptedServer()
    mcp.replies['tools/list'] = listOf('search', 'read_page', 'delete_all')
    await bench.secrets.create({ namespace: 'default', name: 'k', stringData: { t: secret } })
  })
  afterEach(() => mcp.stop())

  const toolsOf = ({ status }: ResourceOf<'Tool'>) => status?.tools?.map(({ name }) => name)

  it('is available while it lists its tools, of which the filter chooses [TOOL-018] [TOOL-019]', async () => {
    const spec = { description: 'd', mcp: { url: mcp.url, tools: ['search', 'read_*'] } }
    await bench.create('Tool', 'docs', { ...spec, http: { authSecretRef: { name: 'k', key: 't' } } })
    const there = await when('Tool', 'docs', ({ status }) => status?.available === true)
    expect(there.status).toMatchObject({ endpoint: mcp.url, lastCheck: '2026-03-01T12:00:00.000Z' })
    expect(toolsOf(there)).toEqual(['docs__search', 'docs__read_page'])
    expect(mcp.seen.every(({ headers }) => headers.authorization === `Bearer ${secret}`)).toBe(true)
    expect(JSON.stringify(there)).not.toContain(secret)
  })

  it('gets the tools that it has by then at each check, and keeps them while it cannot be asked', async () => {
    await bench.create('Tool', 'docs', { description: 'd', mcp: { url: mcp.url } })
    await when('Tool', 'docs', (tool) => toolsOf(tool)?.length === 3)
    mcp.replies['tools/list'] = listOf('find')
    await bench.jump(300_000)
    await when('Tool', 'docs', (tool) => toolsOf(tool)?.join() === 'docs__find')
    mcp.intercept((_received, response) => response.writeHead(503).end('down') !== undefined)
    await bench.jump(300_000)
    const down = await when('Tool', 'docs', ({ status }) => status?.available === false)
    expect(down.status?.error).toContain('answered 503')
    expect(toolsOf(down)).toEqual(['docs__find'])
    mcp.reset()
    await bench.jump(30_000)
    const back = await when('Tool', 'docs', ({ status }) => status?.available === true)
    expect(back.status?.error).toBeUndefined()
  })

  it('says what is wrong: a filter without a match, too many tools, a credential that is refused', async () => {
    await bench.create('Tool', 'none', { description: 'd', mcp: { url: mcp.url, tools: ['nothing*'] } })
    const none = await when('Tool', 'none', ({ status }) => status?.available === false)
    expect(none.status?.error).toBe('mcp.tools matches none of its 3 tools')
    mcp.replies['tools/list'] = listOf(...Array.from({ length: 129 }, (_, at) => `t${at}`))
    await bench.create('Tool', 'many', { description: 'd', mcp: { url: mcp.url } })
    const many = await when('Tool', 'many', ({ status }) => status?.available === false)
    expect(many.status?.error).toContain('choose at most 128 of them with mcp.tools')
    mcp.intercept((_received, response) => response.writeHead(401).end() !== undefined)
    await bench.create('Tool', 'locked', { description: 'd', mcp: { url: mcp.url } })
    const locked = await when('Tool', 'locked', ({ status }) => status?.available === false)
    expect(locked.status?.error).toMatch(/wants one \(status 401\): http\.authSecretRef or mcp\.oauth/)
  })
})

describe('an agent', () => {
  it('is ready when everything it names exists, and follows changes of that', async () => {
    await bench.create('Agent', 'poet', { providerRef: { name: 'vendor' }, skills: [{ name: 'style' }] })
    expect(reasonOf(await readyWhen('Agent', 'poet', false))).toMatch(
      /^provider "vendor" \(providerRef\) does not exist/,
    )
    await bench.create('Provider', 'vendor', { type: 'llmo', baseURL: url, secretRef: { name: 'keys' } })
    await when('Agent', 'poet', (agent) => /^provider "vendor" is not ready: secret "keys"/.test(reasonOf(agent) ?? ''))
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { 'api-key': 'x' } })
    await when('Agent', 'poet', (agent) => /^skill "style" \(skills\) does not exist/.test(reasonOf(agent) ?? ''))
    await bench.create('Skill', 'style', { description: 'd', content: { inline: 'x' } })
    await readyWhen('Agent', 'poet', true)
    await bench.resources.remove('Skill', { namespace: 'default', name: 'style' })
    await readyWhen('Agent', 'poet', false)
  })

  it('is ready with a warning while its model begins with a misspelt provider, and its failed task says so', async () => {
    await bench.dispose()
    const agentPrograms = { find: async () => ({ found: true as const }), names: ['llma-cli'] }
    bench = await openBench({ withCatalog: true, catalog: { agentPrograms, egress }, settings: { agentPrograms } })
    await bench.create('Provider', 'main', { type: 'llmo', baseURL: url })
    const spec = { runtime: { type: 'llma-cli' }, model: { name: 'mian/large' } }
    await bench.create('Agent', 'coder', spec)
    const warned = await when('Agent', 'coder', ({ status }) => status?.ready === true)
    const warning =
      'model.name "mian/large" begins with no provider\'s name, so all of it is asked for as a model; did you mean "main/large"?'
    expect(warned.status).toMatchObject({
      ready: true,
      conditions: [{ type: 'Ready' }, { type: 'ModelNameWarning', status: 'True', message: warning }],
    })
    for (const [name, words] of [
      ['unknown', 'there is no model "mian/large"'],
      ['other', 'no memory left'],
    ] as const) {
      await bench.submitTask(name, { type: 'agent', command: undefined, prompt: 'x', agentRef: { name: 'coder' } })
      await bench.running(name)
      bench.workloads.fail(name, 'ExitCode', words, 'AgentFailed')
      const { status } = await bench.phase(name, 'Failed')
      expect(status?.message?.endsWith(name === 'unknown' ? `${words}; ${warning}` : words)).toBe(true)
    }
    const agent = await get('Agent', 'coder')
    if (agent === undefined) throw new Error('the agent is gone')
    await bench.resources.update('Agent', { ...agent, spec: { ...agent.spec, model: { name: 'main/large' } } })
    await when('Agent', 'coder', ({ status }) => status?.conditions?.length === 1)
  })

  it('counts its tasks that have not ended, and records when it was used last', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.create('Agent', 'poet', {})
    const task = { type: 'ai', command: undefined, prompt: 'x', agentRef: { name: 'poet' } }
    for (const name of ['a', 'b']) {
      await bench.submitTask(name, task)
      await bench.running(name)
    }
    await waitFor(async () => {
      await bench.jump(1000)
      return (await get('Agent', 'poet'))?.status?.activeTasks === 2 ? true : undefined
    }, 'two are counted')
    await bench.putResult('a', 'x')
    bench.workloads.succeed('a')
    const { status } = await bench.phase('a', 'Succeeded')
    await waitFor(async () => {
      await bench.jump(1000)
      return (await get('Agent', 'poet'))?.status?.activeTasks === 1 ? true : undefined
    }, 'one is counted')
    expect((await get('Agent', 'poet'))?.status?.lastUsed).toBe(status?.completionTime)
  })

  it('is removed when its time after the last task has passed, but not while a task needs it', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.create('Agent', 'brief', { ttlAfterLastTask: '10m' })
    await readyWhen('Agent', 'brief', true)
    const task = { type: 'ai', command: undefined, prompt: 'x', agentRef: { name: 'brief' } }
    await bench.submitTask('a', task)
    await bench.running('a')
    await bench.jump(1_200_000)
    await bench.submitTask('other')
    await bench.running('other')
    expect(await get('Agent', 'brief')).toBeDefined()
    await bench.putResult('a', 'x')
    bench.workloads.succeed('a')
    await bench.phase('a', 'Succeeded')
    await bench.jump(1000)
    await when('Agent', 'brief', ({ status }) => status?.activeTasks === 0)
    await bench.jump(590_000)
    expect(await get('Agent', 'brief')).toBeDefined()
    await waitFor(async () => {
      await bench.jump(5000)
      return (await get('Agent', 'brief')) === undefined ? true : undefined
    }, 'the agent is gone')
  })
})
