// What a task names: found, waited for, refused; and what an ai task is started with.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BudgetSpec } from '../../src/contract/api/budgets/budgets.ts'
import { WorkAssignment } from '../../src/contract/api/tasks/assignment.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const ai = { type: 'ai', command: undefined, prompt: 'write a poem' }
const waiting = (name: string) =>
  bench.taskWhen(name, (task) => task.status?.queuedReason === 'WaitingForReferences', 'waits')

function assignmentOf(name: string): WorkAssignment {
  const { run } = bench.workloads.specOf(name)
  if (run.kind !== 'worker') throw new Error('not a worker')
  return WorkAssignment.parse(run.assignment)
}

describe('a task whose references are missing', () => {
  it('names the missing objects, and starts once all of them exist [TASK-035]', async () => {
    await bench.submitTask('poem', { ...ai, agentRef: { name: 'poet' } })
    const first = await waiting('poem')
    expect(first.status?.message).toMatch(/^agent "poet" does not exist in namespace "default"/)
    expect(first.status?.conditions).toMatchObject([{ type: 'WaitingForReferences', status: 'True' }])
    await bench.create('Agent', 'poet', { providerRef: { name: 'vendor' }, model: { name: 'm-1' } })
    await bench.taskWhen('poem', ({ status }) => /^provider "vendor"/.test(status?.message ?? ''), 'lacks the provider')
    await bench.create('Provider', 'vendor', { type: 'llmo', secretRef: { name: 'keys' } })
    await bench.taskWhen('poem', ({ status }) => /^secret "keys"/.test(status?.message ?? ''), 'lacks the secret')
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { 'api-key': 'sk-1' } })
    const running = await bench.running('poem')
    expect(running.status?.conditions?.map((condition) => condition.type)).toEqual(['JobCreated'])
    expect(assignmentOf('poem').model.choices[0]).toMatchObject({ model: 'm-1', provider: { apiKey: 'sk-1' } })
  })

  it('fails when they are not created in time, naming the object to create [TASK-035] [TASK-046]', async () => {
    await bench.submitTask('poem', ai)
    await waiting('poem')
    await bench.jump(299_000)
    await bench.submitTask('other')
    await bench.running('other')
    expect((await bench.getTask('poem'))?.status?.phase).toBe('Pending')
    await bench.jump(1000)
    const failed = await bench.phase('poem', 'Failed')
    expect(failed.status?.message).toMatch(
      /no provider is named and namespace "default" has none called "default"; create it.* \(waited 5m\)$/,
    )
  })

  it('takes the only usable provider where none is named, and fails with their names where there are several', async () => {
    const provider = (name: string) =>
      bench.create('Provider', name, { type: 'llmo', baseURL: 'https://llm.example.com', defaultModel: 'm' })
    await provider('single')
    await bench.submitTask('poem', ai)
    await bench.running('poem')
    expect(assignmentOf('poem').model.choices.map(({ provider: { name } }) => name)).toEqual(['single'])
    await provider('second')
    await bench.submitTask('ode', ai)
    const failed = await bench.phase('ode', 'Failed')
    expect(failed.status?.message).toMatch(/several providers \("second", "single"\).*name one/)
  })

  it('runs without fallbacks that its context token forbids, even ones added later', async () => {
    await bench.dispose()
    bench = await openBench({ settings: { contextMode: 'enforce' } })
    const provider = (name: string, more: object = {}) =>
      bench.create('Provider', name, { type: 'llmo', baseURL: 'https://llm.example.com', defaultModel: 'm', ...more })
    await provider('kept')
    await provider('forbidden')
    await provider('main', { fallbacks: [{ providerRef: { name: 'forbidden' } }, { providerRef: { name: 'kept' } }] })
    const asked = { ...ai, ai: { providerRef: { name: 'main' } } }
    const start = (name: string, context: object) => bench.submitTask(name, { ...asked, transaction: { context } })
    await start('poem', { allowedProviders: 'main,kept' })
    await bench.running('poem')
    expect(assignmentOf('poem').model.choices.map(({ provider: { name } }) => name)).toEqual(['main', 'kept'])
    await start('none', { allowedModels: 'other' })
    const failed = await bench.phase('none', 'Failed')
    expect(failed.status?.message).toMatch(/^model "m" of provider "main" is not allowed by the context token/)
  })

  it('runs without tools that its context token forbids, even ones its agent got later', async () => {
    await bench.dispose()
    bench = await openBench({ settings: { contextMode: 'enforce' } })
    await bench.create('Provider', 'default', { type: 'llmo', baseURL: 'https://llm.example.com', defaultModel: 'm' })
    for (const name of ['lookup', 'other']) {
      await bench.create('Tool', name, { description: name, http: { url: 'https://tools.example.com/' } })
    }
    await bench.create('Agent', 'armed', { tools: [{ name: 'lookup' }, { name: 'other' }] })
    const asked = { ...ai, agentRef: { name: 'armed' } }
    const context = { allowedTools: 'file_read,default/lookup' }
    await bench.submitTask('poem', { ...asked, transaction: { context } })
    await bench.running('poem')
    const { loop, customTools } = assignmentOf('poem')
    expect([...loop.tools, ...customTools.map(({ name }) => name)]).toEqual(['file_read', 'lookup'])
  })

  it('waits for as long as is configured', async () => {
    await bench.dispose()
    bench = await openBench({ settings: { referenceWaitMs: 2_000 } })
    await bench.submitTask('poem', ai)
    await waiting('poem')
    await bench.jump(2_000)
    expect((await bench.phase('poem', 'Failed')).status?.message).toMatch(/\(waited 2s\)$/)
  })

  it('begins to wait again after it was suspended', async () => {
    await bench.submitTask('poem', ai)
    const change = async (suspend: boolean) => {
      const task = await bench.getTask('poem')
      if (task !== undefined) await bench.resources.update('Task', { ...task, spec: { ...task.spec, suspend } })
    }
    await waiting('poem')
    await change(true)
    await bench.taskWhen('poem', ({ status }) => status?.queuedReason === 'Suspended', 'is suspended')
    await bench.jump(3_600_000)
    await change(false)
    await waiting('poem')
    expect((await bench.getTask('poem'))?.status?.conditions?.map(({ type }) => type)).toEqual(['WaitingForReferences'])
  })

  it('distinguishes a missing key from a missing secret', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { other: 'x' } })
    await bench.create('Provider', 'default', { type: 'llma', secretRef: { name: 'keys' }, defaultModel: 'm' })
    await bench.submitTask('poem', ai)
    expect((await waiting('poem')).status?.message).toMatch(
      /has no value under "api-key", which provider "default" needs/,
    )
  })
})

describe('a task that can never run', () => {
  it.each<[string, object, RegExp]>([
    ['no model', ai, /no model specified and no default model configured/],
    ['an agent with a runtime', { ...ai, agentRef: { name: 'cli' } }, /only be used by tasks of type agent/],
    ['an agent without one', { ...ai, type: 'agent', agentRef: { name: 'plain' } }, /has no runtime/],
    ['a runtime that is not here', { ...ai, type: 'agent', agentRef: { name: 'cli' } }, /llma-cli is not available/],
    [
      'a variable from nowhere',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }] },
      /env\[0\].valueFrom.fieldRef.fieldPath is not a field of a task/,
    ],
  ])('fails at once: %s [TASK-046]', async (_what, spec, message) => {
    await bench.create('Provider', 'default', { type: 'llmo' })
    await bench.create('Agent', 'cli', { runtime: { type: 'llma-cli' } })
    await bench.create('Agent', 'plain', {})
    await bench.submitTask('hopeless', { ...spec, retryPolicy: { maxRetries: 5 } })
    const failed = await bench.phase('hopeless', 'Failed')
    expect(failed.status?.message).toMatch(message)
    expect(failed.status?.attempts).toBeUndefined()
    expect(bench.workloads.started).toEqual([])
  })
})

describe('a task whose budget is used up', () => {
  it('fails with the reason and is not retried; a task without a model runs', async () => {
    await bench.create('Provider', 'default', { type: 'llmo', baseURL: 'https://llm.example.com', defaultModel: 'm' })
    const spec = BudgetSpec.parse({ scope: { namespace: 'default' }, maxTokens: 0 })
    await bench.records.budgets.put({ name: 'none', spec })
    await bench.submitTask('poem', { ...ai, retryPolicy: { maxRetries: 3 } })
    const failed = await bench.phase('poem', 'Failed')
    expect(failed.status?.message).toMatch(/^the budget "none" of 0 tokens a month .* is used up/)
    expect(failed.status?.attempts ?? 0).toBe(0)
    await bench.submitTask('plain')
    await bench.running('plain')
  })
})

describe('the assignment of an ai task', () => {
  it.each<[string, number, object, object]>([
    ["the service's limit", 50, {}, {}],
    ["the agent's", 20, { maxIterations: 20 }, {}],
    ["the task's before the agent's", 7, { maxIterations: 20 }, { maxIterations: 7 }],
    ['no more than the service allows', 50, { maxIterations: 20 }, { maxIterations: 400 }],
    ["nothing of an autonomous agent's rounds", 50, { coordination: { maxIterations: 3 } }, {}],
  ])('counts model calls by %s', async (_whose, expected, agent, task) => {
    await bench.create('Provider', 'default', { type: 'llmo', defaultModel: 'm' })
    await bench.create('Agent', 'poet', { providerRef: { name: 'default' }, ...agent })
    await bench.submitTask('poem', { ...ai, agentRef: { name: 'poet' }, ai: task })
    await bench.running('poem')
    expect(assignmentOf('poem').loop.maxIterations).toBe(expected)
  })

  it('contains the limits of the agent: its rate limit, and how much of a session its tasks see', async () => {
    const session = { namespace: 'default', name: 'talk' }
    await bench.records.sessions.ensure(session, { create: true, sessionType: 'task' })
    const say = (content: string) => ({ role: 'user' as const, content })
    await bench.records.sessions.append(session, ['a', 'b', 'c'].map(say))
    await bench.create('Provider', 'default', { type: 'llmo', defaultModel: 'm' })
    const rateLimit = { requestsPerMinute: 5 }
    await bench.create('Agent', 'poet', { rateLimit, session: { maxMessages: 2 } })
    await bench.submitTask('poem', { ...ai, agentRef: { name: 'poet' }, sessionRef: { name: 'talk' } })
    await bench.running('poem')
    const { model, session: given } = assignmentOf('poem')
    expect(model.agent).toEqual({ namespace: 'default', name: 'poet', rateLimit })
    expect(given?.messages.map(({ content }) => content)).toEqual(['b', 'c'])
  })

  it('leaves its Secrets and those of its agent in the record of its session when it starts', async () => {
    const key = { namespace: 'default', name: 'talk' }
    await bench.secrets.create({ namespace: 'default', name: 'keys', stringData: { token: 'x' } })
    await bench.create('Provider', 'default', { type: 'llmo', defaultModel: 'm' })
    await bench.create('Agent', 'poet', { secretRef: { name: 'keys' } })
    await bench.submitTask('plain', { ...ai, sessionRef: { name: 'other', create: true } })
    await bench.running('plain')
    await bench.submitTask('poem', { ...ai, agentRef: { name: 'poet' }, sessionRef: { name: 'talk', create: true } })
    await bench.running('poem')
    const noted = (name: string) => bench.records.sessions.join({ ...key, name }, { secrets: [] })
    expect((await noted('talk')).others).toEqual([
      { requester: undefined, secrets: [{ namespace: 'default', name: 'keys' }] },
    ])
    expect((await noted('other')).others).toEqual([])
  })

  it('contains prompt, skills, models with their keys, tools and limits', async () => {
    const { secrets } = bench
    await secrets.create({
      namespace: 'default',
      name: 'keys',
      stringData: { 'api-key': 'sk-1', tool: 'tok-2' },
      annotations: { 'svc.ai/allowed-hosts': 'api.example.com, api2.example.com' },
    })
    await bench.create(
      'Provider',
      'main',
      {
        type: 'llmo',
        secretRef: { name: 'keys' },
        baseURL: 'http://127.0.0.1:9/v1',
        rateLimit: { requestsPerMinute: 60 },
      },
      { annotations: { 'svc.ai/trusted-base-url': 'http://127.0.0.1:9/v1' } },
    )
    await bench.create('Provider', 'spare', { type: 'llma', defaultModel: 'm-spare' })
    await bench.create('Skill', 'style', {
      description: 'd',
      content: { inline: 'Be brief.', files: { 'a.md': 'one' } },
    })
    await bench.create('Tool', 'weather', {
      description: 'Weather',
      http: { url: 'https://example.com/w', timeout: '5s', authSecretRef: { name: 'keys', key: 'tool' } },
    })
    await bench.create('Agent', 'poet', {
      providerRef: { name: 'main' },
      model: { name: 'm-1', temperature: 0.2, fallbacks: [{ providerRef: { name: 'spare' } }] },
      systemPrompt: { inline: 'You are a poet.' },
      skills: [{ name: 'style' }],
      tools: [{ name: 'weather' }, { name: 'code_exec', enabled: false }],
    })
    await bench.submitTask('poem', { ...ai, timeout: '1m', agentRef: { name: 'poet' }, ai: { maxTokens: 9 } })
    const { metadata } = await bench.running('poem')
    const assignment = assignmentOf('poem')
    expect(assignment.task).toEqual({
      namespace: 'default',
      name: 'poem',
      uid: metadata.uid,
      attempt: 1,
      type: 'ai',
      agentName: 'poet',
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    })
    expect(assignment.deadline).toBe('2026-03-01T12:01:00.000Z')
    expect(assignment.loop).toMatchObject({
      prompt: 'write a poem',
      systemPrompt: 'You are a poet.',
      maxTokens: 9,
      temperature: 0.2,
      tools: ['web_search', 'file_read', 'web_fetch', 'file_write'],
    })
    expect(assignment.skills).toEqual([
      { name: 'style', description: 'd', inline: 'Be brief.', files: { 'a.md': 'one' } },
    ])
    const allowedHosts = ['api.example.com', 'api2.example.com']
    expect(assignment.model.choices).toMatchObject([
      {
        model: 'm-1',
        provider: { name: 'main', apiKey: 'sk-1', allowedHosts, trusted: true, rateLimit: { requestsPerMinute: 60 } },
      },
      { model: 'm-spare', provider: { name: 'spare', type: 'llma' } },
    ])
    expect(assignment.customTools).toMatchObject([
      {
        name: 'weather',
        http: { timeoutMs: 5000, method: 'POST', auth: { inject: 'header', token: 'tok-2' }, allowedHosts },
      },
    ])
    expect(assignment.redact).toEqual([assignment.api.token, 'sk-1', 'tok-2'])
    expect(await bench.workerTokens.verify(assignment.api.token)).toMatchObject({ taskUid: metadata.uid, attempt: 1 })
  })

  it('shows what the task cost in its status', async () => {
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.submitTask('poem', ai)
    const { metadata } = await bench.running('poem')
    const call = { namespace: 'default', provider: 'default', model: 'demo', taskUid: metadata.uid, taskName: 'poem' }
    const tokens = { inputTokens: 10, outputTokens: 5, cachedTokens: 2, demo: true }
    const createdAt = bench.clock.now().toISOString()
    await bench.records.usage.record(['u1', 'u2'].map((id) => ({ id, ...call, ...tokens, createdAt })))
    await bench.putResult('poem', 'roses')
    bench.workloads.succeed('poem')
    const done = await bench.phase('poem', 'Succeeded')
    expect(done.status?.usage).toEqual({ inputTokens: 20, outputTokens: 10, cachedTokens: 4, llmCalls: 2 })
  })
})
