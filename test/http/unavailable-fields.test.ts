// Fields that need what an installation may not have, or that would have no effect: refused in words when they are asked for.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let cluster: Service
beforeAll(async () => {
  service = await startService()
  cluster = await startService({ usecases: { hasCluster: true } })
})
afterAll(() => Promise.all([service.stop(), cluster.stop()]))

type Problem = { path: string; message: string }

async function problemsOf(noun: string, payload: object): Promise<Problem[]> {
  const answer = await service.call(`POST /api/v1/${noun}`, { payload })
  expect(answer.statusCode).toBe(400)
  return answer.json().error.details
}

const agentTask = { name: 'a', type: 'agent', prompt: 'p', agentRef: { name: 'coder' } }
const workspace = { gitRepo: 'https://github.com/a/b' }
const inWorkspace = (workspace: object) => ({ ...agentTask, execution: { workspace } })

describe('a field that needs what a service may not have', () => {
  it('is refused at creation: an MCP server in an actor [MCP-014]', async () => {
    const spec = { description: 'd', mcp: { actor: { templateRef: { name: 't' } } } }
    const [found] = await problemsOf('tools', { name: 'a', spec })
    expect(found).toMatchObject({ path: 'spec.mcp.actor', message: expect.stringContaining('--actor-enabled') })
  })

  it.each([
    ['agents', { name: 'coder', spec: { runtime: { type: 'llma-cli' }, model: { name: 'main/large-model' } } }],
    ['agents', { name: 'codex', spec: { runtime: { type: 'llmo-cli' } } }],
    ['agents', { name: 'open', spec: { runtime: { type: 'opencode' }, model: { name: 'main/large-model' } } }],
    ['tasks', { ...agentTask, name: 'taken' }],
    ['tasks', aiTask('b', { workspace, priorTaskRef: { name: 'a' } })],
  ])('is not among those of agents in repositories: %s %j [NAME-015]', async (noun, payload) => {
    expect((await service.call(`POST /api/v1/${noun}`, { payload })).statusCode).toBe(201)
    expect((await cluster.call(`POST /api/v1/${noun}`, { payload })).statusCode).toBe(201)
  })

  it('does not hold back a change of an object that was stored with it', async () => {
    const key = { namespace: 'default', name: 'old' }
    const mcp = { actor: { templateRef: { name: 't' } } }
    await service.ports.resources.create('Tool', { metadata: key, spec: { description: 'd', mcp } } as never)
    const payload = { spec: { description: 'another', mcp } }
    expect((await service.call('PUT /api/v1/tools/old', { payload })).statusCode).toBe(200)
  })
})

describe('a field that would have no effect', () => {
  it.each([
    [{ workspace: { branch: 'main', pushBranch: 'svc/x' } }, 'workspace.gitRepo', 'branch, pushBranch has no effect'],
    [{ workspace: { ...workspace, forkRepo: 'https://github.com/me/b' } }, 'workspace.pushBranch', 'forkRepo'],
    [{ priorTaskRef: { name: 'b' } }, 'priorTaskRef', 'set workspace.gitRepo'],
    [{ secretRef: { name: 'keys' } }, 'secretRef', 'env with valueFrom.secretKeyRef'],
  ])('is refused, with what to do: %j', async (more, path, words) => {
    const found = await problemsOf('tasks', { ...agentTask, ...more })
    expect(found).toEqual([{ path, message: expect.stringContaining(words) }])
  })

  it('is refused of an agent with a runtime as well', async () => {
    const spec = { runtime: { type: 'llma-cli' }, model: { temperature: 0.5 }, tools: [{ name: 'web_fetch' }] }
    expect(await problemsOf('agents', { name: 'a', spec })).toEqual([
      { path: 'spec.tools', message: expect.stringContaining('runtime.defaultAllowedTools') },
      { path: 'spec.model.temperature', message: expect.stringContaining('has no effect with runtime') },
    ])
  })
})

describe('an execution workspace', () => {
  let tasks = 0
  async function pathsOf(workspace: object): Promise<string[]> {
    const payload = { ...inWorkspace(workspace), name: `in-workspace-${tasks++}` }
    const answer = await cluster.call('POST /api/v1/tasks', { payload })
    if (answer.statusCode === 201) return []
    const problems = answer.json().error.details as Problem[]
    return problems.map(({ path }) => path.replace(/^(spec\.)?execution\.workspace\./, ''))
  }

  it('is refused while its provider is not enabled, and without a template [WS-005] [WS-009]', async () => {
    for (const provider of [{}, { provider: 'agent-sandbox' }, { provider: 'actor' }]) {
      const paths = await pathsOf({ enabled: true, ...provider })
      expect(paths).toEqual(expect.arrayContaining(['provider', 'templateRef.name']))
      expect(await pathsOf({ enabled: true, ...provider, templateRef: { name: 't' } })).not.toContain(
        'templateRef.name',
      )
      expect(await pathsOf({ enabled: false, ...provider })).toEqual([])
    }
  })

  it('takes boot and pools for actors only, and neither unless asked [WS-018] [WS-020]', async () => {
    const pool = { poolRef: { name: 'p' }, cleanupPolicy: 'delete' }
    for (const provider of [{}, { provider: 'agent-sandbox' }]) {
      expect(await pathsOf({ ...provider, boot: true })).toContain('boot')
      expect(await pathsOf({ ...provider, ...pool })).toContain('poolRef')
      expect(await pathsOf(provider)).toEqual([])
    }
    expect(await pathsOf({ provider: 'actor', boot: true, ...pool })).toEqual([])
  })

  it('takes hibernation for actors only, and snapshots not yet, which may be empty [WS-023] [WS-025]', async () => {
    const hibernation = { processMode: 'restart' }
    for (const provider of [{}, { provider: 'agent-sandbox' }]) {
      expect(await pathsOf({ ...provider, hibernation })).toContain('hibernation')
      expect(await pathsOf({ ...provider, snapshot: { restore: 's' } })).toContain('snapshot')
      expect(await pathsOf({ ...provider, hibernation: {}, snapshot: {} })).toEqual([])
    }
    expect(await pathsOf({ provider: 'actor', hibernation, snapshot: {} })).toEqual([])
    expect(await pathsOf({ provider: 'actor', snapshot: { restore: 's' } })).toContain('snapshot')
  })
})

describe('what places a task on a cluster', () => {
  const execution = { runtimeClassName: 'gvisor', nodeSelector: { disk: 'fast' }, tolerations: [], affinity: {} }
  const resources = { limits: { cpu: 1, 'nvidia.com/gpu': 1 } }
  const paths = [
    ...Object.keys(execution).map((field) => `spec.execution.${field}`),
    'spec.resources.limits["nvidia.com/gpu"]',
  ]

  it('is refused where there is none', async () => {
    for (const [noun, payload] of [
      ['tasks', { name: 'placed', spec: { type: 'ai', prompt: 'p', execution, resources } }],
      ['agents', { name: 'placed', spec: { execution, resources } }],
    ] as const) {
      const problems = await problemsOf(noun, payload)
      expect(problems.map(({ path }) => path)).toEqual(paths)
      expect(problems[0]?.message).toMatch(/on a cluster only.*remove it/)
    }
  })

  it('is taken where there is one', async () => {
    const other = await startService({ usecases: { hasCluster: true } })
    const payload = { name: 'placed', spec: { type: 'ai', prompt: 'p', execution, resources } }
    const answer = await other.call('POST /api/v1/tasks', { payload })
    expect(answer.statusCode).toBe(201)
    expect(answer.json().spec).toMatchObject({ execution, resources })
    await other.stop()
  })
})
