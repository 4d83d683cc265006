import { describe, expect, it } from 'vitest'
import { isTerminalPhase, promptOf, Task, TaskSpec, TaskStatus } from './task.ts'

function pathsOf(input: unknown): string[] {
  return TaskSpec.safeParse(input).error?.issues.map((issue) => issue.path.join('.')) ?? []
}

describe('task spec', () => {
  it('has the defaults that the text states, and no others', () => {
    expect(TaskSpec.parse({ type: 'ai', sessionRef: { name: 's' }, retryPolicy: {} })).toEqual({
      type: 'ai',
      priority: 500,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 100,
      successfulRunsHistoryLimit: 3,
      failedRunsHistoryLimit: 1,
      suspend: false,
      sessionRef: { name: 's', create: false, append: true, maxMessages: 50 },
      retryPolicy: { maxRetries: 0, backoffMultiplier: 2, initialDelay: '10s' },
    })
  })

  it('has the defaults of execution workspaces [WS-004] [WS-012]', () => {
    const spec = TaskSpec.parse({ type: 'agent', execution: { workspace: {} } })
    expect(spec.execution?.workspace).toEqual({ enabled: false, reusePolicy: 'none', boot: false })
  })

  it('accepts the whole of a workspace and of a repository [TASK-005] [TASK-006] [TASK-007]', () => {
    const input = {
      type: 'agent',
      agentRef: { name: 'coder', namespace: 'team' },
      prompt: 'do it',
      sessionRef: { name: 'chat-session-0123456789ab' },
      execution: {
        runtimeClassName: 'gvisor',
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
        affinity: { nodeAffinity: { anything: [1] } },
        workspace: {
          enabled: true,
          provider: 'actor',
          templateRef: { name: 't', namespace: 'n' },
          reusePolicy: 'session',
          cleanupPolicy: 'delete',
          boot: true,
          poolRef: { name: 'p', namespace: 'n' },
          snapshot: {},
          hibernation: {},
        },
      },
      workspace: {
        gitRepo: 'https://github.com/owner/repo.git',
        branch: 'main',
        ref: 'v1.2',
        gitSecretRef: { name: 'git' },
        subPath: 'a/b',
        forkRepo: 'git@github.com:me/repo.git',
        prBaseBranch: 'main',
        pushBranch: 'svc/x',
      },
    }
    expect(TaskSpec.parse(input)).toMatchObject(input)
  })

  it.each([
    ['type', { type: 'shell' }],
    ['type', {}],
    ['priority', { type: 'ai', priority: 1001 }],
    ['priority', { type: 'ai', priority: -1 }],
    ['priority', { type: 'ai', priority: 1.5 }],
    ['timeout', { type: 'ai', timeout: '0s' }],
    ['timeout', { type: 'ai', timeout: '5 minutes' }],
    ['retryPolicy.maxRetries', { type: 'ai', retryPolicy: { maxRetries: -1 } }],
    ['retryPolicy.backoffMultiplier', { type: 'ai', retryPolicy: { backoffMultiplier: 0 } }],
    ['webhookURL', { type: 'ai', webhookURL: 'ftp://x' }],
    ['webhookURL', { type: 'ai', webhookURL: 'https://user:pw@x/' }],
    ['sessionRef.maxMessages', { type: 'ai', sessionRef: { name: 's', maxMessages: 0 } }],
    ['sessionRef.name', { type: 'ai', sessionRef: { name: '../s' } }],
    ['schedule', { type: 'ai', schedule: 'every day' }],
    ['timeZone', { type: 'ai', timeZone: 'Nowhere/At-all' }],
    ['concurrencyPolicy', { type: 'ai', concurrencyPolicy: 'Replace' }],
    ['ai.temperature', { type: 'ai', ai: { temperature: 3 } }],
    ['ai.maxTokens', { type: 'ai', ai: { maxTokens: 0 } }],
    ['ai.provider', { type: 'ai', ai: { provider: 'bedrock' } }],
    ['ai.skills.0', { type: 'ai', ai: { skills: [{}] } }],
    ['ai.skills.0', { type: 'ai', ai: { skills: [{ name: 's', configMapRef: { name: 'c', key: 'k' } }] } }],
    ['agentRuntime.maxTurns', { type: 'agent', agentRuntime: { maxTurns: 1001 } }],
    ['env.0.name', { type: 'container', env: [{ name: '1A', value: '' }] }],
    ['env.0.value', { type: 'container', env: [{ name: 'A', value: 'a\0b' }] }],
    ['env.0', { type: 'container', env: [{ name: 'A', value: 'x', valueFrom: {} }] }],
    ['command.1', { type: 'container', command: ['sh', 'a\0'] }],
    ['image', { type: 'container', image: '-v /:/host' }],
    ['resources.limits.memory', { type: 'container', resources: { limits: { memory: 'lots' } } }],
    ['execution.workspace.provider', { type: 'agent', execution: { workspace: { provider: 'docker' } } }],
    ['workspace.gitRepo', { type: 'ai', workspace: { gitRepo: 'https://u:secret@h/o/r' } }],
    ['workspace.gitRepo', { type: 'ai', workspace: { gitRepo: 'https://token@h/o/r' } }],
    ['workspace.gitRepo', { type: 'ai', workspace: { gitRepo: '--upload-pack=x@h:y' } }],
    ['workspace.gitRepo', { type: 'ai', workspace: { gitRepo: 'ext::sh -c x' } }],
    ['workspace.gitRepo', { type: 'ai', workspace: { gitRepo: 'git://host/owner/repo' } }],
    ['workspace.forkRepo', { type: 'ai', workspace: { gitRepo: 'https://h/o/r', forkRepo: 'file:///srv/repo' } }],
    ['workspace.branch', { type: 'ai', workspace: { branch: '--force' } }],
    ['workspace.branch', { type: 'ai', workspace: { branch: 'a..b' } }],
    ['workspace.subPath', { type: 'ai', workspace: { subPath: 'a/../../b' } }],
    ['workspace.subPath', { type: 'ai', workspace: { subPath: '/etc' } }],
    ['agentRef.name', { type: 'agent', agentRef: { name: 'No Such' } }],
  ])('refuses a wrong %s: %j', (path, input) => {
    expect(pathsOf(input)).toContain(path)
  })

  it('accepts WS-006 providers only [WS-006]', () => {
    for (const provider of ['agent-sandbox', 'actor']) {
      expect(pathsOf({ type: 'agent', execution: { workspace: { provider, cleanupPolicy: 'retain' } } })).toEqual([])
    }
    expect(pathsOf({ type: 'agent', execution: { workspace: { cleanupPolicy: 'keep' } } })).toHaveLength(1)
  })

  it('names unknown fields at any depth', () => {
    const result = TaskSpec.safeParse({ type: 'ai', promt: 'x', sessionRef: { name: 's', mode: 1 } })
    expect(result.error?.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))).toEqual([
      'mode',
      'promt',
    ])
  })
})

describe('what a task is asked to do', () => {
  it.each([
    ['a', { prompt: 'a' }],
    ['a', { prompt: 'a', ai: { prompt: '' } }],
    ['a', { prompt: 'a', ai: { prompt: ' \n' } }],
    ['b', { prompt: 'a', ai: { prompt: 'b' } }],
    ['b', { prompt: '', ai: { prompt: 'b' } }],
    ['', {}],
  ])('is %j of %j', (prompt, spec) => {
    expect(promptOf(spec)).toBe(prompt)
  })
})

describe('task', () => {
  it('knows which phases are final', () => {
    expect(['Succeeded', 'Failed', 'Cancelled'].every((phase) => isTerminalPhase(phase as 'Failed'))).toBe(true)
    expect([undefined, 'Pending', 'Running', 'Scheduled'].some((phase) => isTerminalPhase(phase as 'Pending'))).toBe(
      false,
    )
  })

  it('carries version, kind, metadata, spec and status', () => {
    const task = {
      apiVersion: 'core.svc.ai/v1alpha1',
      kind: 'Task',
      metadata: {
        name: 'a',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: '2026-01-31T12:00:00Z',
      },
      spec: { type: 'ai', prompt: 'x' },
      status: { phase: 'Running', attempts: 1 },
    }
    expect(Task.parse(task)).toMatchObject(task)
    expect(Task.safeParse({ ...task, kind: 'Agent' }).success).toBe(false)
    expect(Task.safeParse({ ...task, apiVersion: 'v1' }).success).toBe(false)
  })

  it('takes an empty status, and no phase that is none', () => {
    expect(TaskStatus.parse({})).toEqual({})
    expect(TaskStatus.safeParse({ phase: 'Finalizing' }).success).toBe(false)
  })
})
