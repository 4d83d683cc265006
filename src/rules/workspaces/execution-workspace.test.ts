import { describe, expect, it } from 'vitest'
import { Agent } from '../../contract/kinds/agents/agent.ts'
import { Task } from '../../contract/kinds/tasks/task.ts'
import { resolveWorkspace, showWorkspace, type WorkspaceSettings } from './execution-workspace.ts'

const stored = { resourceVersion: '1', generation: 1, creationTimestamp: '2030-01-01T00:00:00Z' }
const usual = { cleanupPolicy: 'delete', claimTimeoutSeconds: 120, commandTimeoutSeconds: 1800 } as const
const settings: WorkspaceSettings = {
  defaultProvider: 'agent-sandbox',
  providers: {
    'agent-sandbox': { ...usual, template: 'usual' },
    actor: { ...usual, cleanupPolicy: 'retain', template: 'acting', templateNamespace: 'templates' },
  },
}

type Changes = {
  workspace?: object
  spec?: object
  namespace?: string
  caller?: string
  uid?: string
  attempt?: number
  agent?: Agent
}

function resolve({ workspace, spec, namespace = 'team-a', caller = 'ann', uid = 'u1', attempt = 1, agent }: Changes) {
  const annotations = { 'svc.ai/caller': caller, 'svc.ai/caller-kind': 'oidc', 'svc.ai/caller-id': `issuer#${caller}` }
  const task = Task.parse({
    apiVersion: 'core.svc.ai/v1alpha1',
    kind: 'Task',
    metadata: { name: 't', namespace, uid, annotations, ...stored },
    spec: {
      type: 'agent',
      prompt: 'p',
      agentRef: { name: 'coder' },
      execution: { workspace: { enabled: true, ...workspace } },
      ...spec,
    },
  })
  return resolveWorkspace(settings, { task, attempt, agent })
}

const inSession = (changes: Changes = {}) =>
  resolve({
    ...changes,
    workspace: { reusePolicy: 'session', ...changes.workspace },
    spec: { sessionRef: { name: 's' }, ...changes.spec },
  })
const nameOf = (changes: Changes = {}) => inSession(changes)?.claim.name

describe('the effective settings of an execution workspace', () => {
  it('are those of the provider where the task says nothing [WS-007] [WS-008] [WS-010]', () => {
    expect(resolve({})).toEqual({
      provider: 'agent-sandbox',
      template: { name: 'usual', namespace: 'team-a' },
      reusePolicy: 'none',
      cleanupPolicy: 'delete',
      boot: false,
      claimTimeoutSeconds: 120,
      commandTimeoutSeconds: 1800,
      claim: { name: expect.stringMatching(/^svc-ws-[0-9a-f]{32}$/), namespace: 'team-a' },
      requester: 'oidc:issuer#ann',
      secrets: [],
    })
  })

  it('are those of the task where it says something [WS-011] [WS-015] [WS-022]', () => {
    const workspace = { provider: 'actor', boot: true, poolRef: { name: 'p' }, hibernation: { processMode: 'restart' } }
    expect(resolve({ workspace })).toMatchObject({
      provider: 'actor',
      template: { name: 'acting', namespace: 'templates' },
      cleanupPolicy: 'retain',
      boot: true,
      pool: { name: 'p', namespace: 'team-a' },
      processMode: 'restart',
    })
    const own = { provider: 'actor', templateRef: { name: 'x', namespace: 'y' }, cleanupPolicy: 'delete' }
    expect(resolve({ workspace: own })).toMatchObject({
      template: { name: 'x', namespace: 'y' },
      cleanupPolicy: 'delete',
    })
  })

  it('are none unless it is enabled, on a task of type agent', () => {
    expect(resolve({ workspace: { enabled: false } })).toBeUndefined()
  })

  it('show nothing of the claim', () => {
    const resolved = inSession()
    if (resolved === undefined) throw new Error('there is no workspace')
    expect(JSON.stringify(showWorkspace(resolved))).not.toContain(resolved.claim.name)
    expect(showWorkspace(resolved)).toMatchObject({ phase: 'Pending', templateRef: { name: 'usual' } })
  })
})

describe('the name of a claim', () => {
  it('is the same for the tasks of a session [WS-013]', () => {
    expect(nameOf({ uid: 'u2', attempt: 3 })).toBe(nameOf())
  })

  it('is of each attempt alone without reuse', () => {
    const names = [resolve({}), resolve({ attempt: 2 }), resolve({ uid: 'u2' })].map((found) => found?.claim.name)
    expect(new Set(names).size).toBe(3)
  })

  it('never crosses namespace, session, requester, template, provider or set of Secrets', () => {
    const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } }]
    const names = [
      nameOf(),
      nameOf({ namespace: 'team-b' }),
      nameOf({ spec: { sessionRef: { name: 'other' } } }),
      nameOf({ caller: 'bob' }),
      nameOf({ workspace: { templateRef: { name: 'big' } } }),
      nameOf({ workspace: { provider: 'actor' } }),
      nameOf({ spec: { env } }),
      nameOf({ spec: { workspace: { gitRepo: 'https://github.com/a/b', gitSecretRef: { name: 'git' } } } }),
      nameOf({
        agent: Agent.parse({
          apiVersion: 'core.svc.ai/v1alpha1',
          kind: 'Agent',
          metadata: { name: 'coder', namespace: 'team-a', uid: 'a1', ...stored },
          spec: { secretRef: { name: 'of-the-agent' } },
        }),
      }),
    ]
    expect(new Set(names).size).toBe(names.length)
    expect(nameOf({ spec: { env: [...env, ...env] } })).toBe(nameOf({ spec: { env } }))
  })
})
