// Templates and pools of other namespaces, of which tasks and tools would have their workspaces and actors made.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkspaceDefaults } from '../../src/contract/kinds/tasks/task-problems.ts'
import { type ActorsDouble, type OpenedActors, openActors, startActors } from '../fixtures/actors/actors.ts'
import { type Service, startService } from './service.ts'

const workspaces: WorkspaceDefaults = {
  defaultProvider: 'agent-sandbox',
  providers: {
    'agent-sandbox': { template: 'agents', cleanupPolicy: 'delete' },
    actor: { template: 'agents', templateNamespace: 'templates', cleanupPolicy: 'delete' },
  },
}

let double: ActorsDouble
let opened: OpenedActors
let open: Service
let apart: Service
let bound: string

beforeAll(async () => {
  double = await startActors({ workers: 0 })
  opened = openActors(double)
  const { toolActors } = opened
  open = await startService({ toolActors, usecases: { workspaces, hasActors: true } })
  apart = await startService({ toolActors, usecases: { workspaces, hasActors: true, isolateNamespaces: true } })
  const made = await open.call('POST /api/v1/tokens', {
    payload: { name: 'author', role: 'editor', namespace: 'team-a' },
  })
  bound = made.json().token
})
afterAll(async () => {
  await Promise.all([open?.stop(), apart?.stop()])
  await opened?.close()
  await double?.stop()
})

let made = 0
function post(at: Service, kind: 'tasks' | 'tools', spec: object, token?: string) {
  made += 1
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const payload = { metadata: { name: `placed-${made}`, namespace: 'team-a' }, spec }
  return at.call(`POST /api/v1/${kind}`, { payload, headers })
}

const inWorkspace = (workspace: object) => ({
  type: 'agent',
  prompt: 'x',
  agentRef: { name: 'a' },
  execution: { workspace: { enabled: true, ...workspace } },
})
const onActor = (actor: object) => ({ description: 'd', mcp: { actor: { templateRef: { name: 'agents' }, ...actor } } })
const at = (namespace: string) => ({ name: 'agents', namespace })
const workspacePath = 'spec.execution.workspace'

/** What is refused where namespaces are isolated, and needs a right in the other one where they are not. */
const foreign: [kind: 'tasks' | 'tools', path: string, spec: object][] = [
  ['tasks', `${workspacePath}.templateRef.namespace`, inWorkspace({ provider: 'actor', templateRef: at('team-b') })],
  [
    'tasks',
    `${workspacePath}.poolRef.namespace`,
    inWorkspace({ provider: 'actor', poolRef: at('team-b'), cleanupPolicy: 'delete' }),
  ],
  [
    'tasks',
    `${workspacePath}.templateRef.namespace`,
    { ...inWorkspace({ provider: 'actor', templateRef: at('team-b') }), schedule: '0 4 * * *' },
  ],
  ['tools', 'spec.mcp.actor.templateRef.namespace', onActor({ templateRef: at('team-b') })],
]

describe('a template or pool of another namespace', () => {
  it.each(foreign)('is refused of %s at %s where namespaces are isolated', async (kind, path, spec) => {
    const answer = await post(apart, kind, spec)
    expect(answer.statusCode).toBe(400)
    const message = `names namespace "team-b", but ${kind} of "team-a" may only use their own`
    expect(answer.json().error.details).toEqual([{ path, message }])
  })

  it.each(foreign)('of %s at %s is for those who may make such an object there', async (kind, _path, spec) => {
    const refused = await post(open, kind, spec, bound)
    expect([refused.statusCode, refused.body]).toEqual([403, expect.stringContaining('team-b')])
    expect((await post(open, kind, spec)).statusCode).toBe(201)
  })

  it('is never one of sandboxes, which are claimed beside their template', async () => {
    for (const service of [open, apart]) {
      const answer = await post(service, 'tasks', inWorkspace({ templateRef: at('team-b') }))
      expect(answer.statusCode).toBe(400)
      expect(answer.json().error.details).toMatchObject([{ path: `${workspacePath}.templateRef.namespace` }])
    }
  })

  it('is no other one when it is the own, or that of the settings of the service', async () => {
    const near = [
      ['tasks', inWorkspace({ templateRef: at('team-a') })],
      ['tasks', inWorkspace({ provider: 'actor', templateRef: at('templates') })],
      [
        'tasks',
        inWorkspace({ provider: 'actor', templateRef: at('team-a'), poolRef: at('team-a'), cleanupPolicy: 'delete' }),
      ],
    ] as const
    for (const [kind, spec] of near) {
      expect((await post(apart, kind, spec)).statusCode).toBe(201)
      expect((await post(open, kind, spec, bound)).statusCode).toBe(201)
    }
  })

  it('that was named before is no reason to refuse another change', async () => {
    const [kind, , spec] = foreign[0] ?? ['tasks', '', {}]
    const stored = (await post(open, kind, spec)).json().metadata.name as string
    const change = { payload: { spec: { ...spec, prompt: 'y' } }, headers: { authorization: `Bearer ${bound}` } }
    const changed = await open.call(`PUT /api/v1/tasks/${stored}?namespace=team-a`, change)
    expect(changed.statusCode).not.toBe(400)
    const moved = { ...spec, ...inWorkspace({ provider: 'actor', templateRef: at('team-c') }) }
    const refused = await open.call(`PUT /api/v1/tasks/${stored}?namespace=team-a`, {
      ...change,
      payload: { spec: moved },
    })
    expect(refused.statusCode).toBe(403)
  })
})
