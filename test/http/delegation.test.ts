// What a coordinator may make, over the worker API: never more than it has itself.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../src/contract/kinds/agents/agent.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { traceparentOf } from '../../src/rules/tasks/trace-context.ts'
import { createWorkerApi, type WorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let url: string
beforeEach(async () => {
  service = await startService()
  url = await service.listen()
  await makeAgent('helper')
  await makeAgent('stranger')
  await makeAgent('lead', { allowedAgents: [{ name: 'helper' }, { name: 'lead' }], maxDepth: 2 }, [
    { name: 'web_fetch', enabled: true },
    { name: 'code_exec', enabled: false },
  ])
})
afterEach(() => service.stop())

const { signal } = new AbortController()
const parked = { ok: false, reason: 'Parked', message: 'it waits' } as const

async function makeAgent(name: string, coordination?: object, tools?: object[]): Promise<void> {
  const spec = {
    providerRef: { name: 'main' },
    ...(coordination && { coordination: { enabled: true, ...coordination } }),
    ...(tools && { tools }),
  }
  const made = await service.call('POST /api/v1/agents', { payload: { name, spec } })
  expect(made.statusCode).toBe(201)
}

async function openApi(name: string): Promise<WorkerApi> {
  const { token } = await service.runTask(name)
  const task = { namespace: 'default', name }
  return createWorkerApi({ api: { url, token }, task, clock: service.ports.clock, signal })
}

async function openLead(name = 'job', more: object = {}): Promise<WorkerApi> {
  const payload = aiTask(name, { agentRef: { name: 'lead' }, ...more })
  expect((await service.call('POST /api/v1/tasks', { payload })).statusCode).toBe(201)
  return openApi(name)
}

const readTask = async (name: string) => (await service.call(`GET /api/v1/tasks/${name}`)).json() as Task
const listTasks = async () => ((await service.call('GET /api/v1/tasks')).json() as { items: Task[] }).items
const work = { agent: 'helper', prompt: 'do it' }

describe('delegate_task', () => {
  it('makes one child for one call, with the priority and the identity of its parent', async () => {
    const { coordination } = await openLead('job', { priority: 700 })
    const { taskName, status } = await coordination.delegate('0-1-a', work)
    expect(status).toBe('created')
    expect(taskName).toMatch(/^job-child-[0-9a-f]{8}$/)
    expect(await coordination.delegate('0-1-a', work)).toEqual({ taskName, status })
    const child = await readTask(taskName)
    const parent = await readTask('job')
    expect(child.spec).toMatchObject({
      type: 'ai',
      agentRef: { name: 'helper' },
      ai: { prompt: 'do it' },
      priority: 700,
    })
    expect(child.metadata.ownerReferences).toMatchObject([{ kind: 'Task', name: 'job', uid: parent.metadata.uid }])
    expect(child.metadata.annotations?.['svc.ai/caller']).toBe(parent.metadata.annotations?.['svc.ai/caller'])
    // It belongs to the trace of its parent, below the step that made it, or the attempt where none is named.
    expect(child.metadata.annotations?.['svc.ai/traceparent']).toBe(traceparentOf(parent, 1))
    expect(await listTasks()).toHaveLength(2)
    const other = await coordination.delegate('0-2-a', work, '7')
    expect(other.taskName).not.toBe(taskName)
    const { annotations } = (await readTask(other.taskName)).metadata
    expect(annotations?.['svc.ai/traceparent']).toBe(traceparentOf(parent, 1, '7'))
  })

  it('takes priority, retries, limits and feedback [COORD-005]', async () => {
    const { coordination } = await openLead()
    const first = await coordination.delegate('a', work)
    const { taskName } = await coordination.delegate('b', {
      ...work,
      priority: 3,
      auto_retry: true,
      max_retries: 4,
      timeout: '5m',
      prior_task: first.taskName,
      feedback: 'count again',
    })
    const { spec } = await readTask(taskName)
    expect(spec).toMatchObject({ priority: 3, timeout: '5m', retryPolicy: { maxRetries: 4 } })
    expect(spec.ai?.prompt).toBe(`Feedback on task ${first.taskName}:\ncount again\n\ndo it`)
  })

  it.each([
    ['its coordinator', { execution: { isolation: 'process' } }, {}],
    ['the agent of that', {}, { execution: { isolation: 'process' } }],
  ])('makes tasks and agents with processes of their own where %s asks for that', async (_who, more, ofAgent) => {
    const agent = {
      name: 'strict',
      spec: { providerRef: { name: 'main' }, coordination: { enabled: true }, ...ofAgent },
    }
    expect((await service.call('POST /api/v1/agents', { payload: agent })).statusCode).toBe(201)
    const { coordination } = await openLead('job', { agentRef: { name: 'strict' }, ...more })
    const made = await coordination.createAgent({ name: 'made', provider: 'main', model: 'm' })
    const { taskName } = await coordination.delegate('a', { agent: made.name, prompt: 'do it' })
    const { spec } = (await service.call(`GET /api/v1/agents/${made.name}`)).json() as Agent
    const isolations = [spec, (await readTask(taskName)).spec].map(({ execution }) => execution?.isolation)
    expect(isolations).toEqual(['process', 'process'])
  })

  it.each([
    [
      { ...work, agent: 'stranger' },
      /"stranger" is not one that "lead" may delegate to; its allowedAgents: helper, lead/,
    ],
    [{ ...work, agent: 'nobody' }, /"nobody" is not one that "lead" may delegate to/],
    [{ ...work, agentNamespace: 'other' }, /may delegate to/],
    [{ ...work, namespace: 'other' }, /only be made in namespace "default"/],
    [{ ...work, prior_task: 'job' }, /prior_task "job" is no task of yours/],
    [
      { ...work, workspace: { gitRepo: 'https://example.com/a/b', gitSecretRef: 'key' } },
      /has no Secret "key" for https:\/\/example.com\/a\/b/,
    ],
    [{ ...work, workspace: { gitRepo: 'file:///etc' } }, /gitRepo/],
  ])('refuses what its coordinator may not: %#', async (args, words) => {
    const { coordination } = await openLead()
    await expect(coordination.delegate('a', args)).rejects.toThrow(words)
    expect(await listTasks()).toHaveLength(1)
  })

  it('ends at the depth that the agent allows', async () => {
    const top = await openLead()
    const child = await top.coordination.delegate('a', { ...work, agent: 'lead' })
    const middle = await openApi(child.taskName)
    const grandchild = await middle.coordination.delegate('a', { ...work, agent: 'lead' })
    const bottom = await openApi(grandchild.taskName)
    await expect(bottom.coordination.delegate('a', work)).rejects.toThrow(
      'this task is 2 levels below its first coordinator, and coordination.maxDepth is 2: do the work yourself',
    )
  })

  it('is refused where the first coordinator has a thousand tasks below it', async () => {
    const { coordination } = await openLead()
    const labels = { 'svc.ai/family': (await readTask('job')).metadata.uid }
    const spec = { type: 'container', image: 'busybox', command: ['true'] } as never
    const fill = (at: number) =>
      service.ports.resources.create('Task', { metadata: { namespace: 'default', name: `below-${at}`, labels }, spec })
    await Promise.all(Array.from({ length: 999 }, (_, at) => fill(at)))
    const last = await coordination.delegate('a', work)
    await expect(coordination.delegate('b', work)).rejects.toThrow(
      'the first coordinator already has 1000 tasks below it, the most it may have: make no more',
    )
    expect(await coordination.delegate('a', work)).toEqual(last)
  })

  it('is refused to a task whose agent does not coordinate, and in the name of another task', async () => {
    await service.call('POST /api/v1/tasks', { payload: aiTask('plain', { agentRef: { name: 'helper' } }) })
    const plain = await openApi('plain')
    await expect(plain.coordination.delegate('a', work)).rejects.toThrow(/does not coordinate/)
    await openLead()
    const { token } = await service.runTask('plain')
    const task = { namespace: 'default', name: 'job' }
    const forged = createWorkerApi({ api: { url, token }, task, clock: service.ports.clock, signal })
    await expect(forged.coordination.delegate('a', work)).rejects.toMatchObject({ reason: 'Forbidden' })
    await expect(forged.submitEnd({ ...parked, waits: [] })).rejects.toMatchObject({ reason: 'InvalidRequest' })
  })
})

describe('a wait for something outside', () => {
  const wait = { kind: 'probe', call: '0-1-a', what: 'tea', args: {}, until: '2030-01-01T00:00:00.000Z' } as const

  it.each([
    [{ ...wait, probe: 'kettle' }, /there is no probe "kettle"; there are none here/],
    [{ ...wait, probe: 'toString' }, /there is no probe "toString"/],
    [{ ...wait, probe: 'kettle', args: { a: 'x'.repeat(5000) } }, /args must be at most 4096 characters of JSON/],
    [{ ...wait, probe: 'kettle', every: 'often' }, /every/],
  ])('is refused where nobody could tell that it has come: %#', async (given, words) => {
    const { submitEnd } = await openLead()
    await expect(submitEnd({ ...parked, waits: [given] })).rejects.toThrow(words)
  })
})

describe('create_agent', () => {
  const made = { name: 'mine', provider: 'main', model: 'small' }

  it('makes an agent that this task alone may use, with no tool that the task lacks [COORD-016]', async () => {
    const { coordination } = await openLead()
    expect(await coordination.createAgent(made)).toEqual({ name: 'mine', status: 'created' })
    expect(await coordination.createAgent(made)).toEqual({ name: 'mine', status: 'created' })
    const { spec } = (await service.call('GET /api/v1/agents/mine')).json()
    expect(spec.tools).toContainEqual({ name: 'code_exec', enabled: false })
    expect(spec.tools).toContainEqual({ name: 'web_fetch', enabled: true })
    await expect(coordination.delegate('a', { ...work, agent: 'mine' })).resolves.toMatchObject({ status: 'created' })
    const other = await openLead('other')
    await expect(other.coordination.delegate('a', { ...work, agent: 'mine' })).rejects.toThrow(/may delegate to/)
    await expect(other.coordination.createAgent(made)).rejects.toMatchObject({ reason: 'AlreadyExists' })
    await expect(other.coordination.deleteAgent({ name: 'mine' })).rejects.toThrow(/no agent that this task has made/)
  })

  it('removes only what the task has made [COORD-017]', async () => {
    const { coordination } = await openLead()
    await coordination.createAgent(made)
    await expect(coordination.deleteAgent({ name: 'helper' })).rejects.toMatchObject({ reason: 'NotFound' })
    expect(await coordination.deleteAgent({ name: 'mine' })).toEqual({ name: 'mine', status: 'deleted' })
    expect((await service.call('GET /api/v1/agents/mine')).statusCode).toBe(404)
    expect((await service.call('GET /api/v1/agents/helper')).statusCode).toBe(200)
  })

  it.each([
    [{ ...made, provider: 'expensive' }, /provider "expensive" is not one that this task uses: main/],
    [{ ...made, tools: ['code_exec'] }, /tools that this task does not have: code_exec/],
    [{ ...made, tools: ['payroll'] }, /tools that this task does not have: payroll/],
    [{ ...made, coordination: { enabled: true, allowedAgents: ['stranger'] } }, /may not delegate to: stranger/],
  ])('refuses more than the coordinator has: %#', async (args, words) => {
    const { coordination } = await openLead()
    await expect(coordination.createAgent(args)).rejects.toThrow(words)
    expect((await service.call('GET /api/v1/agents/mine')).statusCode).toBe(404)
  })

  it('gives an agent that coordinates no wider limits than the coordinator has', async () => {
    const { coordination } = await openLead()
    await coordination.createAgent({
      ...made,
      coordination: { enabled: true, allowedAgents: ['helper'], maxDepth: 9, maxConcurrentChildren: 100 },
    })
    const { spec } = (await service.call('GET /api/v1/agents/mine')).json()
    expect(spec.coordination).toMatchObject({
      enabled: true,
      allowedAgents: [{ name: 'helper', namespace: 'default' }],
      maxDepth: 2,
      maxConcurrentChildren: 5,
    })
  })

  it('gives no agent a tool without the approval that the coordinator needs for it', async () => {
    const approvers = [{ kind: 'token', id: 'owner' }]
    await makeAgent('careful', {
      allowedAgents: [{ name: 'helper' }],
      approvalRequiredTools: ['code_exec'],
      approvers,
    })
    const { coordination } = await openLead('job', { agentRef: { name: 'careful' } })
    const specOf = async (name: string) => (await service.call(`GET /api/v1/agents/${name}`)).json().spec
    for (const more of [{}, { coordination: { enabled: false } }]) {
      const bold = { ...made, ...more, tools: ['code_exec'] }
      await expect(coordination.createAgent(bold)).rejects.toThrow(/tools that need approval: code_exec/)
    }
    await coordination.createAgent(made)
    expect((await specOf('mine')).tools).toContainEqual({ name: 'code_exec', enabled: false })
    await coordination.createAgent({ ...made, name: 'quiet', coordination: { enabled: false } })
    expect((await specOf('quiet')).tools).toContainEqual({ name: 'code_exec', enabled: false })
    await coordination.createAgent({ ...made, name: 'asks', tools: ['code_exec'], coordination: { enabled: true } })
    expect((await specOf('asks')).coordination).toMatchObject({ approvalRequiredTools: ['code_exec'], approvers })
  })
})

describe('wait_for_tasks and cancel_task', () => {
  const waitFor = { tasks: ['nobody'], timeout: '10m' }

  it('tells what came of a child, in the order of the names, and nothing of the tasks of others [COORD-006]', async () => {
    const { coordination } = await openLead()
    const { taskName } = await coordination.delegate('a', work)
    await service.call('POST /api/v1/tasks', { payload: aiTask('foreign') })
    const open = await coordination.waitFor('w', { ...waitFor, tasks: ['foreign', taskName] }, undefined)
    expect(open).toMatchObject({
      completed: false,
      results: [],
      wait: { kind: 'tasks', call: 'w', tasks: [{ name: taskName }] },
    })
    await (await openApi(taskName)).submitResult('x'.repeat(5000))
    const failed = { phase: 'Failed', attempts: 3, interruptions: 1, message: 'it broke' } as const
    await service.setStatus('Task', taskName, failed)
    const { completed, results } = await coordination.waitFor(
      'w',
      { ...waitFor, tasks: ['foreign', taskName] },
      undefined,
    )
    expect(completed).toBe(true)
    expect(results).toEqual([
      { task: 'foreign', phase: 'Error', error: 'is no task of yours; it may have been deleted' },
      {
        task: taskName,
        agent: 'helper',
        phase: 'Failed',
        result: `${'x'.repeat(4096)}\n[truncated]`,
        failureDetails: { message: 'it broke', retryCount: 1, maxRetries: 0 },
      },
    ])
  })

  it('ends its wait at the time that was said first', async () => {
    const { coordination } = await openLead()
    const { taskName } = await coordination.delegate('a', work)
    const past = new Date(service.ports.clock.now().getTime() - 1).toISOString()
    const answer = await coordination.waitFor('w', { tasks: [taskName], timeout: '10m' }, past)
    expect(answer).toMatchObject({ completed: false, results: [{ task: taskName, phase: 'Pending' }] })
    expect(answer.wait).toBeUndefined()
  })

  it('cancels its own tasks alone [COORD-009]', async () => {
    const { coordination } = await openLead()
    const { taskName } = await coordination.delegate('a', work)
    await service.call('POST /api/v1/tasks', { payload: aiTask('foreign') })
    await expect(coordination.cancel({ task_name: 'foreign' })).rejects.toThrow('"foreign" is no task of yours')
    const cancelled = { taskName, status: 'cancelled' }
    expect(await coordination.cancel({ task_name: taskName, reason: 'enough' })).toEqual(cancelled)
    expect((await readTask(taskName)).metadata.annotations?.['svc.ai/cancel-requested']).toBe('enough')
    await service.setStatus('Task', taskName, { phase: 'Cancelled' })
    expect(await coordination.cancel({ task_name: taskName })).toEqual({
      taskName,
      status: 'task is already in Cancelled phase, cannot cancel',
    })
  })
})

describe('messages', () => {
  it('find their family by themselves, and none beyond it [COORD-010, COORD-011]', async () => {
    const lead = await openLead()
    const [first, second] = await Promise.all([
      lead.coordination.delegate('a', work),
      lead.coordination.delegate('b', work),
    ])
    await service.call('POST /api/v1/tasks', { payload: aiTask('foreign') })
    const one = await openApi(first.taskName)
    const two = await openApi(second.taskName)
    await lead.coordination.send({ to_task: first.taskName, content: 'from above' })
    await two.coordination.send({ to_task: '*', content: 'to all' })
    await expect(one.coordination.send({ to_task: 'foreign', content: 'psst' })).rejects.toMatchObject({
      reason: 'NotFound',
    })
    const read = async (api: WorkerApi, query: { markRead: boolean; upTo?: number }) =>
      (await api.coordination.readMessages(query)).map(({ content }) => content)
    const [oldest] = await one.coordination.readMessages({ markRead: false })
    expect(await read(one, { markRead: false })).toEqual(['from above', 'to all'])
    expect(await read(one, { markRead: true, upTo: oldest?.id ?? 0 })).toEqual(['from above'])
    expect(await read(one, { markRead: true })).toEqual(['to all'])
    expect(await read(one, { markRead: true })).toEqual([])
    expect(await read(lead, { markRead: true })).toEqual(['to all'])
    expect(await read(two, { markRead: true })).toEqual([])
  })

  it('are refused to a task that has sent a thousand', async () => {
    const lead = await openLead()
    const { metadata } = await readTask('job')
    const from = { uid: metadata.uid, name: 'job' }
    const message = { namespace: 'default', from, to: '*' as const, parent: from, content: 'and you?' }
    await Promise.all(Array.from({ length: 999 }, () => service.ports.records.messages.send(message)))
    const { taskName } = await lead.coordination.delegate('a', work)
    await lead.coordination.send({ to_task: taskName, content: 'the last one' })
    await expect(lead.coordination.send({ to_task: taskName, content: 'one more' })).rejects.toThrow(
      'task "job" has sent 1000 messages, the most it may; put the rest into its result',
    )
  })

  it('come in parts that a model can read, however many were sent', async () => {
    const lead = await openLead()
    const { taskName } = await lead.coordination.delegate('a', work)
    const child = await openApi(taskName)
    const long = 'x'.repeat(60_000)
    for (const at of [1, 2, 3, 4, 5]) await child.coordination.send({ to_task: 'job', content: `${at}${long}` })
    const read = async (markRead: boolean) =>
      (await lead.coordination.readMessages({ markRead })).map(({ content }) => content[0])
    expect(await read(false)).toEqual(['1', '2'])
    expect(await read(true)).toEqual(['1', '2'])
    expect(await read(true)).toEqual(['3', '4'])
    expect(await read(true)).toEqual(['5'])
    expect(await read(true)).toEqual([])
  })
})
