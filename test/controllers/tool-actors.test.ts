// Tools whose MCP server runs in an actor: the controller makes the actor, and calls reach the server through the router.
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Tool } from '../../src/contract/kinds/tools/tool.ts'
import { assignTool } from '../../src/lookup/tools.ts'
import { createCustomTools } from '../../src/tools/custom/custom-tools.ts'
import { createLinks } from '../../src/tools/registry/tool.ts'
import { Refused } from '../fixtures/actors/actor-world.ts'
import { type ActorsDouble, type OpenedActors, openActors, startActors } from '../fixtures/actors/actors.ts'
import { dnsSuffix } from '../fixtures/actors/router.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

const program = fileURLToPath(new URL('../fixtures/actors/mcp-server.mjs', import.meta.url))
const serverOf = (...args: string[]) => ({ token: '', command: [process.execPath, program, ...args] })
const plain = { labels: {}, annotations: {}, variables: [], phase: 'Ready' }

let double: ActorsDouble
let opened: OpenedActors
let bench: Bench
let isOn = true
/** Whether templates of other namespaces are for nobody. */
let isolated = false
const toolActors = () => ({ ...opened.toolActors, isolated })

beforeEach(async () => {
  isOn = true
  isolated = false
  const other = serverOf('/tools', 'weather')
  const workloads = { 'templates/weather': serverOf(), 'default/other': other, 'far/other': other }
  double = await startActors({ workloads })
  double.templates.set('templates/weather', { ...plain, namespace: 'templates', name: 'weather' })
  double.templates.set('default/other', { ...plain, namespace: 'default', name: 'other' })
  opened = openActors(double)
  bench = await openBench({ withCatalog: true, toolActors: () => (isOn ? toolActors() : undefined) })
})
afterEach(async () => {
  await bench.dispose()
  await opened.close()
  await double.stop()
})

const actorOf = (rest: object = {}) => ({ templateRef: { name: 'weather' }, ...rest })
const specOf = (actor: object = actorOf(), rest: object = {}) => ({
  description: 'says the weather',
  mcp: { actor },
  ...rest,
})
const key = { namespace: 'default', name: 'weather' }

function toolWhen(want: (tool: Tool) => boolean, what: string): Promise<Tool> {
  return waitFor(async () => {
    bench.clock.advance(1000)
    const tool = await bench.resources.get('Tool', key)
    return tool !== undefined && want(tool) ? tool : undefined
  }, `the tool ${what}`)
}
const available = () => toolWhen(({ status }) => status?.available === true, 'is available')
const errorWith = (text: string) => toolWhen(({ status }) => status?.error?.includes(text) === true, `says ${text}`)

async function call(tool: Tool, args: object = { city: 'Oslo' }) {
  const links = createLinks()
  const [custom] = createCustomTools(
    await assignTool({ secrets: bench.secrets, toolActors: opened.toolActors }, tool),
    bench.clock,
  )
  const context = { egress: bench.egress, egressPolicy: { allowNetworks: [], deny: [] }, links }
  try {
    return await custom?.invoke(args as never, context as never, new AbortController().signal)
  } finally {
    await links.close()
  }
}

const actors = () => double.world.list()

describe('a tool on an actor', () => {
  it('has an actor that is made and resumed, whose endpoint its status names [MCP-012] [MCP-013] [MCP-015] [MCP-006]', async () => {
    await bench.create('Tool', 'weather', specOf())
    const { status } = await available()
    const [actor] = actors()
    expect(actor).toMatchObject({
      status: 'STATUS_RUNNING',
      template: { namespace: 'templates', name: 'weather' },
      boots: [false],
    })
    const actorID = actor?.ref.name ?? ''
    expect(actorID).toMatch(/^svc-tool-weather-/)
    expect(status?.endpoint).toBe(`${double.router.url}/mcp`)
    expect(status?.actor).toEqual({
      provider: 'actor',
      actorID,
      routeHost: `${actorID}.default.${dnsSuffix}`,
      templateRef: { namespace: 'templates', name: 'weather' },
    })
  })

  it('is called by tools/call with the name of the Tool, in a session that it closes [MCP-001] [MCP-002] [MCP-004] [MCP-016] [TOOL-004]', async () => {
    await bench.create('Tool', 'weather', specOf())
    const tool = await available()
    double.router.seen.length = 0
    const outcome = await call(tool)
    expect(outcome).toMatchObject({ success: true, result: { city: 'Oslo', host: tool.status?.actor?.routeHost } })
    const sent = double.router.seen.map(({ method, path }) => `${method} ${path}`)
    expect(sent.filter((one) => one === 'POST /mcp').length).toBeGreaterThanOrEqual(3)
    expect(sent.at(-1)).toBe('DELETE /mcp')
  })

  it('sends the token of its Secret as transport auth [MCP-017]', async () => {
    const token = `token-${Math.random()}`
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { token } })
    await bench.create(
      'Tool',
      'weather',
      specOf(actorOf(), { http: { authSecretRef: { name: 'keys', key: 'token' } } }),
    )
    const tool = await available()
    const assigned = await assignTool({ secrets: bench.secrets, toolActors: opened.toolActors }, tool)
    expect('mcp' in assigned && assigned.mcp.token).toBe(token)
    await call(tool)
    expect(double.router.seen.every(({ authorization }) => authorization === `Bearer ${token}`)).toBe(true)
    expect(JSON.stringify(tool.status)).not.toContain(token)
  })

  it('has its path, and a template of its own namespace when it names that', async () => {
    const actor = actorOf({ templateRef: { name: 'other', namespace: 'default' } })
    await bench.create('Tool', 'weather', { description: 'd', mcp: { path: '/tools', actor } })
    expect(await call(await available())).toMatchObject({ success: true })
  })

  it('is booted from scratch once, and used again by later looks and after a restart [MCP-010] [MCP-011]', async () => {
    await bench.create('Tool', 'weather', specOf(actorOf({ boot: true })))
    const first = await call(await available())
    await bench.crash()
    bench.clock.advance(600_000)
    await waitFor(
      () => double.control.seen.filter((one) => one.call === 'GetActor').length > 1 || undefined,
      'was looked at',
    )
    const again = await call(await available())
    expect(actors()[0]?.boots).toEqual([true])
    const startOf = (outcome: unknown) => (outcome as { result: { started: string } }).result.started
    expect(startOf(again)).toBe(startOf(first))
  })

  it('comes from its pool, of the namespace of the Tool unless it names another [MCP-007] [MCP-009]', async () => {
    const warm = { 'svc.ai/actor-template': 'templates/weather', 'svc.ai/target-actors': '1' }
    double.pools.set('default/warm', {
      namespace: 'default',
      name: 'warm',
      labels: { 'svc.ai/actor-pool': 'w' },
      annotations: warm,
    })
    double.world.workers.push({
      pool: 'warm',
      namespace: 'default',
      labels: { 'svc.ai/actor-pool': 'w' },
      node: 'node-2',
    })
    await bench.create('Tool', 'weather', specOf(actorOf({ poolRef: { name: 'warm' } })))
    const { status } = await available()
    expect(status?.actor?.poolRef).toEqual({ namespace: 'default', name: 'warm' })
    expect(actors()[0]?.worker?.node).toBe('node-2')
  })

  it('says why it has none: the pool is of another template', async () => {
    double.pools.set('default/warm', {
      namespace: 'default',
      name: 'warm',
      labels: { 'svc.ai/actor-pool': 'w' },
      annotations: { 'svc.ai/actor-template': 'default/other', 'svc.ai/target-actors': '1' },
    })
    await bench.create('Tool', 'weather', specOf(actorOf({ poolRef: { name: 'warm' } })))
    await errorWith('has actors of template "default/other"')
    expect(actors()).toEqual([])
  })

  it('waits until there is a free worker', async () => {
    const workers = double.world.workers.splice(0)
    await bench.create('Tool', 'weather', specOf())
    await errorWith('no worker pool matches')
    double.world.workers.push(...workers)
    await available()
  })

  it('waits for the service of actors, for its template, and for the server', async () => {
    double.control.setFault(() => new Refused(14, 'away'))
    double.templates.delete('templates/weather')
    await bench.create('Tool', 'weather', specOf())
    await errorWith('the actor service does not answer')
    double.control.setFault(() => undefined)
    await errorWith('the actor template "templates/weather" does not exist')
    double.templates.set('templates/weather', {
      ...plain,
      namespace: 'templates',
      name: 'weather',
      phase: 'WaitGoldenActor',
    })
    await errorWith('is not ready (phase WaitGoldenActor)')
    double.router.setIntercept((_request, response) => {
      response.writeHead(503).end('not yet')
      return true
    })
    double.templates.set('templates/weather', { ...plain, namespace: 'templates', name: 'weather' })
    await errorWith('503')
    double.router.setIntercept(() => false)
    await available()
  })

  it('says that the server has no tool of its name', async () => {
    const actor = actorOf({ templateRef: { name: 'other', namespace: 'default' } })
    await bench.create('Tool', 'weather', { description: 'd', mcp: { path: '/tools', actor } })
    await available()
    await bench.create('Tool', 'climate', { description: 'd', mcp: { path: '/tools', actor } })
    await waitFor(async () => {
      bench.clock.advance(1000)
      const climate = await bench.resources.get('Tool', { namespace: 'default', name: 'climate' })
      return climate?.status?.error?.includes('no tool named "climate"; it has weather')
    }, 'the missing tool is told')
  })

  it('has another actor once its template is another, and none once it names an address', async () => {
    await bench.create('Tool', 'weather', specOf())
    const tool = await available()
    const actor = { templateRef: { name: 'other', namespace: 'default' }, boot: false }
    const changed = await bench.resources.update('Tool', {
      ...tool,
      spec: { ...tool.spec, mcp: { path: '/tools', actor } },
    })
    await toolWhen(
      ({ status }) => status?.actor?.templateRef?.name === 'other' && status.available,
      'has the other template',
    )
    expect(actors().map(({ template }) => template.name)).toEqual(['other'])
    const now = (await bench.resources.get('Tool', key)) ?? changed
    await bench.resources.update('Tool', {
      ...now,
      spec: { ...now.spec, mcp: { path: '/mcp', url: 'https://mcp.invalid/mcp' } },
    })
    const without = await toolWhen(({ status }) => status?.actor === undefined, 'has no actor')
    expect(actors()).toEqual([])
    expect(without.metadata.finalizers ?? []).toEqual([])
  })

  it('takes its actor with it when it is deleted, also while the service of actors is away', async () => {
    await bench.create('Tool', 'weather', specOf())
    await available()
    double.control.setFault((name) => (name === 'DeleteActor' ? new Refused(14, 'away') : undefined))
    await bench.resources.remove('Tool', key)
    await waitFor(
      () => double.control.seen.some((one) => one.call === 'DeleteActor') || undefined,
      'its removal was tried',
    )
    expect((await bench.resources.get('Tool', key))?.metadata.deletionTimestamp).toBeDefined()
    double.control.setFault(() => undefined)
    await waitFor(async () => {
      bench.clock.advance(1000)
      return (await bench.resources.get('Tool', key)) === undefined || undefined
    }, 'the tool is gone')
    expect(actors()).toEqual([])
  })

  it.each([
    ['template', actorOf({ templateRef: { name: 'other', namespace: 'far' } })],
    ['pool', actorOf({ poolRef: { name: 'warm', namespace: 'far' } })],
  ])(
    'that was stored with a %s of another namespace is of no use once namespaces are isolated',
    async (what, actor) => {
      const labels = { 'svc.ai/actor-pool': 'w' }
      const annotations = { 'svc.ai/actor-template': 'templates/weather', 'svc.ai/target-actors': '1' }
      double.templates.set('far/other', { ...plain, namespace: 'far', name: 'other' })
      double.pools.set('far/warm', { namespace: 'far', name: 'warm', labels, annotations })
      double.world.workers.push({ pool: 'warm', namespace: 'far', labels, node: 'node-2' })
      await bench.create('Tool', 'weather', specOf(actor))
      const before = await toolWhen(({ status }) => status?.actor !== undefined, 'has an actor')
      await waitFor(() => actors().length === 1, 'the actor to be made')
      isolated = true
      const found = assignTool({ secrets: bench.secrets, toolActors: toolActors() }, before)
      await expect(found).rejects.toMatchObject({
        reason: 'InvalidRequest',
        message: expect.stringContaining(`mcp.actor.${what}Ref.namespace names namespace "far"`),
      })
      await bench.crash()
      const { status } = await errorWith('may only use their own')
      expect(status?.available).toBe(false)
      await waitFor(() => actors().length === 0, 'its actor to be removed')
    },
  )

  it('is called where the settings say, whatever somebody has written into its status', async () => {
    await bench.create('Tool', 'weather', specOf())
    const tool = await available()
    const forged = 'http://forged.invalid'
    const actor = { ...tool.status?.actor, actorID: 'forged', routeHost: 'forged.invalid' }
    const status = { ...tool.status, endpoint: forged, actor } as NonNullable<Tool['status']>
    const assigned = await assignTool({ secrets: bench.secrets, toolActors: toolActors() }, { ...tool, status })
    expect(JSON.stringify(assigned)).toContain(`"via":"${new URL(double.router.url).origin}"`)
    expect(JSON.stringify(assigned)).not.toContain('forged')
    await bench.resources.updateStatus('Tool', { ...tool, status })
    await toolWhen(
      (now) => now.status?.endpoint !== forged && now.status?.available === true,
      'tells its own endpoint again',
    )
    expect(actors()).toHaveLength(1)
  })

  it('is unavailable while actors are off, and can be deleted then', async () => {
    await bench.create('Tool', 'weather', specOf())
    await available()
    isOn = false
    await bench.crash()
    const tool = await errorWith('needs actors, which are not enabled')
    expect(tool.status?.available).toBe(false)
    await bench.resources.remove('Tool', key)
    await waitFor(
      async () => ((await bench.resources.get('Tool', key)) === undefined ? true : undefined),
      'the tool is gone',
    )
    expect(bench.lines.map(({ message }) => message)).toContain('actors are off: the actor of a tool is left behind')
  })
})
