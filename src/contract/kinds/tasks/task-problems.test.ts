import { describe, expect, it } from 'vitest'
import { TaskSpec } from './task.ts'
import { taskProblems, type WorkspaceDefaults } from './task-problems.ts'

type Input = Parameters<typeof TaskSpec.parse>[0]

function pathsOf(input: Input, defaults?: WorkspaceDefaults): string[] {
  return taskProblems(TaskSpec.parse(input), defaults).map((problem) => problem.path)
}

const agent = { type: 'agent', agentRef: { name: 'coder' }, prompt: 'do it' }
const inWorkspace = (workspace: object, more: object = {}) => ({ ...agent, ...more, execution: { workspace } })
const session = { sessionRef: { name: 's' } }

describe('rules across the fields of a task [TASK-034]', () => {
  it.each([
    [{ type: 'ai', prompt: 'hello' }],
    [{ type: 'ai', ai: { prompt: 'hello' }, agentRef: { name: 'helper' } }],
    [{ type: 'container', command: ['true'] }],
    [{ type: 'container', image: 'alpine' }],
    [agent],
    [{ ...agent, agentRuntime: { maxTurns: 3 } }],
    [{ ...agent, schedule: '@hourly', timeZone: 'Europe/Berlin' }],
    [inWorkspace({ enabled: true, reusePolicy: 'session' }, session)],
    [inWorkspace({ provider: 'actor', poolRef: { name: 'p' }, cleanupPolicy: 'delete', boot: true })],
    [inWorkspace({ snapshot: {}, hibernation: {}, poolRef: { name: '' } })],
  ])('finds nothing wrong with %j', (input) => {
    expect(pathsOf(input)).toEqual([])
  })

  it.each([
    [['agentRef', 'prompt'], { type: 'agent' }],
    [['prompt'], { type: 'agent', agentRef: { name: 'a' }, prompt: '  ' }],
    [['prompt'], { type: 'ai' }],
    [['prompt'], { type: 'ai', agentRef: { name: 'helper' } }],
    [['command'], { type: 'container' }],
    [['command'], { type: 'container', command: [], args: ['x'] }],
    [['image', 'command', 'args'], { type: 'ai', prompt: 'x', image: 'a', command: ['b'], args: ['c'] }],
    [['agentRef'], { type: 'container', command: ['x'], agentRef: { name: 'a' } }],
    [['ai'], { ...agent, ai: { model: 'm' } }],
    [['network'], { type: 'ai', prompt: 'x', network: { allow: ['none'] } }],
    [['agentRuntime'], { type: 'ai', prompt: 'x', agentRuntime: {} }],
    [['agentRuntime.workspace'], { ...agent, workspace: {}, agentRuntime: { workspace: {} } }],
    [['workspace.gitRepo'], { ...agent, workspace: { branch: 'main', pushBranch: 'svc/x' } }],
    [['agentRuntime.workspace.gitRepo'], { ...agent, agentRuntime: { workspace: { subPath: 'src' } } }],
    [['workspace.pushBranch'], { ...agent, workspace: { gitRepo: 'https://h/o/r', forkRepo: 'https://h/me/r' } }],
    [['priorTaskRef'], { ...agent, priorTaskRef: { name: 'first' } }],
    [['secretRef'], { ...agent, secretRef: { name: 'keys' } }],
    [['budget'], { type: 'ai', prompt: 'x', budget: { currency: 'EUR' } }],
    [
      ['budget.maxTokens', 'budget.maxCost'],
      { type: 'container', command: ['true'], budget: { maxTokens: 1, maxCost: 1 } },
    ],
    [['budget.maxIterations'], { ...agent, budget: { maxIterations: 2, maxTokens: 5 } }],
    [[], { type: 'container', command: ['true'], budget: { maxDuration: '1h' } }],
    [['timeZone'], { type: 'ai', prompt: 'x', timeZone: 'UTC' }],
    [['execution.queue'], { ...agent, execution: { queue: 'team-a', workspace: { enabled: true } } }],
  ])('finds %j', (paths, input) => {
    expect(pathsOf(input)).toEqual(paths)
  })

  it('refuses a queue whose name is no label', () => {
    const inQueue = (queue: string) => TaskSpec.safeParse({ ...agent, execution: { queue } }).success
    expect([inQueue('q'.repeat(63)), inQueue('q'.repeat(64))]).toEqual([true, false])
  })

  /** What each field is to a task of type agent: the part of the service that heeds it, or a value with which it is refused. */
  const fieldsOfAgentTasks: Record<keyof TaskSpec, { heeded: string } | { refused: unknown }> = {
    type: { heeded: 'what runs' },
    image: { refused: 'busybox' },
    command: { refused: ['true'] },
    args: { refused: ['x'] },
    env: { heeded: 'variables of the program' },
    artifactsDir: { refused: '/workspace/out' },
    timeout: { heeded: 'time of an attempt, and of its token' },
    network: { heeded: 'what the program may reach' },
    budget: { heeded: 'checked by the proxies before each call' },
    priority: { heeded: 'order among waiting tasks' },
    retryPolicy: { heeded: 'whether there is another attempt' },
    webhookURL: { heeded: 'who is told of the end' },
    secretRef: { refused: { name: 'keys' } },
    sessionRef: { heeded: 'what stands above the prompt' },
    resources: { heeded: 'limits of the attempt' },
    execution: { heeded: 'where its pods run' },
    schedule: { heeded: 'when it runs' },
    timeZone: { refused: 'UTC' },
    concurrencyPolicy: { heeded: 'runs of the schedule' },
    startingDeadlineSeconds: { heeded: 'runs of the schedule' },
    successfulRunsHistoryLimit: { heeded: 'runs of the schedule' },
    failedRunsHistoryLimit: { heeded: 'runs of the schedule' },
    suspend: { heeded: 'whether it starts' },
    ttlSecondsAfterFinished: { heeded: 'when it is deleted' },
    ai: { refused: { temperature: 0.5 } },
    agentRef: { heeded: 'the program, its model and its prompt' },
    prompt: { heeded: 'what the program is asked' },
    agentRuntime: { heeded: 'limits of the program' },
    workspace: { heeded: 'the repository' },
    priorTaskRef: { refused: { name: 'first' } },
    requestedBy: { heeded: 'set by the service' },
    transaction: { heeded: 'set by the service' },
  }

  it('has no field of which it is not known whether an agent task heeds it', () => {
    expect(Object.keys(fieldsOfAgentTasks).toSorted()).toEqual(TaskSpec.keyof().options.toSorted())
  })

  const refusals = Object.entries(fieldsOfAgentTasks).flatMap(([path, what]) =>
    'refused' in what ? [[path, what.refused] as const] : [],
  )
  it.each(refusals)('refuses %s of an agent task, which would have no effect', (path, value) => {
    expect(pathsOf({ ...agent, [path]: value } as Input)).toEqual([path])
  })

  it('refuses an execution workspace on other types [WS-001]', () => {
    expect(pathsOf({ type: 'ai', prompt: 'x', execution: { workspace: {} } })).toEqual(['execution.workspace'])
    expect(pathsOf({ type: 'container', image: 'x', execution: { workspace: {} } })).toEqual(['execution.workspace'])
  })

  it('wants a session for reuse by session [WS-014]', () => {
    expect(pathsOf(inWorkspace({ reusePolicy: 'session' }))).toEqual(['sessionRef.name'])
  })

  it('wants pooled workspaces deleted [WS-021]', () => {
    const pooled = { provider: 'actor', poolRef: { name: 'p' } }
    expect(pathsOf(inWorkspace(pooled))).toEqual(['execution.workspace.cleanupPolicy'])
    expect(pathsOf(inWorkspace({ ...pooled, cleanupPolicy: 'retain' }))).toEqual(['execution.workspace.cleanupPolicy'])
  })

  it('refuses what is reserved [WS-024] [WS-026]', () => {
    const path = 'execution.workspace'
    expect(pathsOf(inWorkspace({ snapshot: { restore: 'x' } }))).toEqual([`${path}.snapshot`])
    expect(pathsOf(inWorkspace({ provider: 'actor', hibernation: { processMode: 'resident' } }))).toEqual([
      `${path}.hibernation.processMode`,
    ])
  })

  it('keeps actor settings from the other provider', () => {
    const path = 'execution.workspace'
    const provider = 'agent-sandbox'
    expect(pathsOf(inWorkspace({ provider, boot: true }))).toEqual([`${path}.boot`])
    expect(pathsOf(inWorkspace({ provider, cleanupPolicy: 'delete', poolRef: { name: 'p' } }))).toEqual([
      `${path}.poolRef`,
    ])
    expect(pathsOf(inWorkspace({ provider, hibernation: { idle: 1 } }))).toEqual([`${path}.hibernation`])
  })

  describe('with the defaults of the service', () => {
    const usual = { cleanupPolicy: 'retain' } as const
    const defaults: WorkspaceDefaults = { providers: { 'agent-sandbox': usual }, defaultProvider: 'agent-sandbox' }
    const templateRef = { name: 't' }

    it('refuses a provider that is not enabled', () => {
      expect(pathsOf(inWorkspace({ enabled: true, provider: 'actor', templateRef }), defaults)).toEqual([
        'execution.workspace.provider',
      ])
      expect(pathsOf(inWorkspace({ enabled: true, templateRef }), defaults)).toEqual([])
      expect(pathsOf(inWorkspace({ provider: 'actor' }), defaults)).toEqual([])
    })

    it('wants a template unless there is a default one', () => {
      expect(pathsOf(inWorkspace({ enabled: true }), defaults)).toEqual(['execution.workspace.templateRef.name'])
      const providers = { 'agent-sandbox': { ...usual, template: 't' } }
      expect(pathsOf(inWorkspace({ enabled: true }), { ...defaults, providers })).toEqual([])
    })

    it('counts the default cleanup policy for pools', () => {
      const pooled = inWorkspace({ provider: 'actor', poolRef: { name: 'p' } })
      expect(pathsOf(pooled, { ...defaults, providers: { actor: usual } })).toHaveLength(1)
      expect(pathsOf(pooled, { ...defaults, providers: { actor: { cleanupPolicy: 'delete' } } })).toEqual([])
    })
  })

  it('finds what is wrong in a schema for the answer', () => {
    const ask = (outputSchema: Record<string, unknown>) =>
      pathsOf({ type: 'ai', ai: { prompt: 'hello', outputSchema } })
    expect(ask({ type: 'object' })).toEqual([])
    expect(ask({ properties: { city: { type: 'town' } } })).toEqual(['ai.outputSchema.properties.city.type'])
  })
})
