// Which Pending task starts when: order, capacity, limits, sessions, and what a task waits for.
import { afterEach, describe, expect, it } from 'vitest'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import { createWorkerConversation } from '../../src/usecases/tasks/worker/conversation.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, type BenchOptions, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

async function open(options: BenchOptions = {}): Promise<Bench> {
  bench = await openBench(options)
  return bench
}

const startedNames = () => bench.workloads.started.map((spec) => spec.taskName)
const queued = (name: string, reason: string) =>
  bench.taskWhen(name, (task) => task.status?.queuedReason === reason, `waits for ${reason}`)

describe('Pending tasks', () => {
  it('start in order of priority, then age, as workers become free [TASK-039]', async () => {
    await open()
    bench.workloads.setCapacity(0)
    for (const [name, priority] of [
      ['low', 100],
      ['old', 500],
      ['young', 500],
      ['urgent', 900],
    ] as const) {
      await bench.submitTask(name, { priority })
      await queued(name, 'Capacity')
    }
    bench.workloads.setCapacity(1)
    for (const name of ['urgent', 'old', 'young', 'low']) {
      await bench.jump(1000)
      await bench.running(name)
      bench.workloads.succeed(name)
      await bench.phase(name, 'Succeeded')
    }
    expect(startedNames()).toEqual(['urgent', 'old', 'young', 'low'])
  })

  it('start in turns of their namespaces, so that ten wait for no thousand of another', async () => {
    await open()
    bench.workloads.setCapacity(0)
    const submit = (namespace: string, amount: number) =>
      Promise.all(Array.from({ length: amount }, (_, at) => bench.submitTask(`${namespace}-${at}`, {}, { namespace })))
    await submit('many', 300)
    await waitFor(async () => (await bench.resources.get('Task', { namespace: 'many', name: 'many-299' }))?.status)
    await submit('few', 10)
    await waitFor(async () => (await bench.resources.get('Task', { namespace: 'few', name: 'few-9' }))?.status)
    bench.workloads.setCapacity(20)
    await bench.jump(1000)
    await waitFor(() => startedNames().length === 20)
    expect(startedNames().filter((name) => name.startsWith('few'))).toHaveLength(10)
  })

  it('stay Pending while they are suspended, and start with the spec they have when they are resumed', async () => {
    await open()
    const change = async (spec: object) => {
      const task = await bench.getTask('held')
      if (task === undefined) throw new Error('gone')
      await bench.resources.update('Task', { ...task, spec: { ...task.spec, ...spec } })
    }
    await bench.submitTask('held', { suspend: true })
    const held = await queued('held', 'Suspended')
    expect(held.status).toMatchObject({ phase: 'Pending', conditions: [{ type: 'Suspended', status: 'True' }] })
    await bench.submitTask('other')
    await bench.running('other')
    await bench.pause()
    bench.resume()
    bench.workloads.succeed('other')
    await bench.phase('other', 'Succeeded')
    expect(startedNames()).toEqual(['other'])
    await change({ suspend: false, command: ['false'] })
    const started = await bench.running('held')
    expect(started.status?.conditions?.map(({ type }) => type)).toEqual(['JobCreated'])
    expect(bench.workloads.specOf('held').run).toMatchObject({ command: ['false'] })
  })

  it('leave the queue when they are suspended; a task whose schedule is removed starts', async () => {
    await open()
    const change = async (name: string, spec: object) => {
      const task = await bench.getTask(name)
      if (task === undefined) throw new Error('gone')
      await bench.resources.update('Task', { ...task, spec: { ...task.spec, ...spec } })
    }
    await bench.submitTask('nightly', { schedule: '@hourly' })
    await bench.phase('nightly', 'Scheduled')
    bench.workloads.setCapacity(0)
    await bench.submitTask('queued')
    await queued('queued', 'Capacity')
    await change('queued', { suspend: true })
    await queued('queued', 'Suspended')
    await change('nightly', { schedule: undefined })
    await queued('nightly', 'Capacity')
    bench.workloads.setCapacity(4)
    await bench.jump(1000)
    const run = await bench.running('nightly')
    expect(run.status?.nextScheduleTime).toBeUndefined()
    expect(startedNames()).toEqual(['nightly'])
  })

  it('that change while they are being started run with their new spec', async () => {
    await open()
    const { events } = bench.records
    const append = events.append.bind(events)
    events.append = async (event) => {
      const appended = await append(event)
      const task = await bench.getTask('late')
      if (event.phase === 'Running' && task?.metadata.generation === 1) {
        await bench.resources.update('Task', { ...task, spec: { ...task.spec, command: ['second'] } })
      }
      return appended
    }
    await bench.submitTask('late', { command: ['first'] })
    await bench.jump(1000)
    await bench.taskWhen('late', ({ metadata }) => metadata.generation === 2, 'is changed')
    await waitFor(async () => {
      await bench.jump(1000)
      return bench.workloads.running().find((name) => name === 'late')
    }, 'late runs')
    expect(bench.workloads.specOf('late').run).toMatchObject({ command: ['second'] })
    expect(startedNames()).toEqual(['late'])
  })

  it('start in the same order after a restart of the service [TASK-039]', async () => {
    await open()
    bench.workloads.setCapacity(0)
    for (const [name, priority] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      await bench.submitTask(name, { priority })
    await bench.pause()
    bench.workloads.setCapacity(1)
    bench.resume()
    for (const name of ['c', 'b', 'a']) {
      await bench.running(name)
      bench.workloads.succeed(name)
    }
    await bench.phase('a', 'Succeeded')
    expect(startedNames()).toEqual(['c', 'b', 'a'])
  })

  it('never run more at a time than there is room for, and run once each however many there are', async () => {
    await open()
    bench.workloads.setCapacity(3)
    const names = Array.from({ length: 40 }, (_, index) => `t${index}`)
    await Promise.all(names.map((name) => bench.submitTask(name)))
    const seen: number[] = []
    for (let done = 0; done < names.length; done += 1) {
      const name = await waitFor(() => bench.workloads.running()[0], 'something runs')
      seen.push(bench.workloads.running().length)
      bench.workloads.succeed(name)
    }
    for (const name of names) await bench.phase(name, 'Succeeded')
    expect(Math.max(...seen)).toBeLessThanOrEqual(3)
    expect(startedNames().toSorted()).toEqual(names.toSorted())
  })
})

describe('the namespace limit', () => {
  it('counts running tasks only, blocks no other namespace and never deadlocks [TASK-040]', async () => {
    await open({ settings: { maxTasksPerNamespace: 1 } })
    await bench.submitTask('first')
    await bench.running('first')
    await bench.submitTask('second', { priority: 1000 })
    await queued('second', 'NamespaceLimit')
    await bench.submitTask('elsewhere', {}, { namespace: 'team' })
    await waitFor(() => startedNames().find((name) => name === 'elsewhere'), 'the other namespace is served')
    expect(startedNames()).toEqual(['first', 'elsewhere'])
    bench.workloads.fail('first')
    await bench.running('second')
  })

  it('is applied again after a restart, before anything starts [TASK-040]', async () => {
    await open({ settings: { maxTasksPerNamespace: 1 } })
    await bench.submitTask('first')
    await bench.running('first')
    await bench.submitTask('second')
    await queued('second', 'NamespaceLimit')
    await bench.pause()
    bench.resume()
    await bench.jump(1000)
    await bench.submitTask('elsewhere', {}, { namespace: 'team' })
    await waitFor(() => startedNames().find((name) => name === 'elsewhere'), 'the other namespace is served')
    expect(startedNames()).toEqual(['first', 'elsewhere'])
  })
})

const labels = { 'svc.ai/coordinator': 'true', 'svc.ai/parent-task': 'parent' }
const belongTo = (uid: string) => ({
  labels,
  ownerReferences: [{ apiVersion, kind: 'Task', name: 'parent', uid, controller: true }],
})

/** The metadata of children of an ai task named `parent`, which runs. */
async function beginFamily(coordination: object = {}) {
  await bench.create('Provider', 'default', { type: 'demo' })
  await bench.create('Agent', 'lead', { coordination: { enabled: true, ...coordination } })
  const spec = { type: 'ai', command: undefined, prompt: 'x', agentRef: { name: 'lead' } }
  const { uid } = (await bench.submitTask('parent', spec)).metadata
  await bench.running('parent')
  return belongTo(uid)
}

describe('the sibling limit', () => {
  it('lets as many children of a coordinator run as its agent allows [TASK-040]', async () => {
    await open()
    const metadata = await beginFamily({ maxConcurrentChildren: 2 })
    // Whoever only says that it belongs to them takes nobody's place.
    for (const name of ['claims-1', 'claims-2']) {
      await bench.submitTask(name, {}, { labels, annotations: { 'svc.ai/parent-task-name': 'parent' } })
      await bench.running(name)
    }
    for (const name of ['c1', 'c2']) {
      await bench.submitTask(name, {}, metadata)
      await bench.running(name)
    }
    await bench.submitTask('c3', {}, metadata)
    await queued('c3', 'SiblingLimit')
    await bench.submitTask('stranger')
    await bench.running('stranger')
    bench.workloads.succeed('c1', 'one')
    await bench.running('c3')
    await waitFor(async () => {
      // Whatever changes in a burst is shown after it.
      await bench.jump(200)
      const { childTasks } = (await bench.getTask('parent'))?.status ?? {}
      const phases = childTasks?.map(({ phase }) => phase).join()
      return childTasks?.[0]?.result === 'one' && phases === 'Succeeded,Running,Running'
    }, 'parent to show its children')
  })
})

describe('the children in the status of a coordinator', () => {
  const shown = async () => (await bench.getTask('parent'))?.status?.childTasks?.map(({ phase }) => phase).join()
  const untilShown = (phases: string) =>
    waitFor(async () => {
      await bench.jump(200)
      return (await shown()) === phases
    }, `the parent to show ${phases}`)

  it('are there when it ends before it was seen to have them, and are told to their own end', async () => {
    await open()
    const { uid } = (await bench.submitTask('parent')).metadata
    await bench.running('parent')
    await bench.submitTask('child', {}, belongTo(uid))
    await bench.running('child')
    bench.workloads.succeed('parent')
    await bench.phase('parent', 'Succeeded')
    await untilShown('Running')
    bench.workloads.succeed('child')
    await untilShown('Succeeded')
  })

  it('are cancelled with it, and it says so', async () => {
    await open()
    const metadata = await beginFamily()
    await bench.submitTask('child', {}, metadata)
    await bench.running('child')
    await untilShown('Running')
    bench.workloads.fail('parent')
    await bench.phase('parent', 'Failed')
    await untilShown('Cancelled')
  })
})

describe('a session', () => {
  const session = { name: 's-1', create: true }

  it('goes to its waiting tasks in order of priority, then age, before a task that comes later [TASK-039]', async () => {
    await open()
    await bench.submitTask('holder', { sessionRef: session })
    await bench.running('holder')
    for (const [name, priority] of [
      ['low', 100],
      ['old', 500],
      ['young', 500],
      ['urgent', 900],
    ] as const) {
      await bench.submitTask(name, { priority, sessionRef: session })
      await queued(name, 'SessionLocked')
      await bench.jump(1000)
    }
    let before = 'holder'
    for (const name of ['urgent', 'old', 'young', 'low']) {
      bench.workloads.succeed(before)
      await bench.running(name)
      before = name
    }
    expect(startedNames()).toEqual(['holder', 'urgent', 'old', 'young', 'low'])
  })

  it('is locked by one task at a time, and the next task starts as soon as it is free', async () => {
    await open()
    await bench.submitTask('one', { sessionRef: session })
    await bench.running('one')
    await bench.submitTask('two', { sessionRef: session })
    expect((await queued('two', 'SessionLocked')).status?.message).toContain('"s-1"')
    await bench.submitTask('free')
    await bench.running('free')
    bench.workloads.succeed('one', 'first answer')
    await bench.running('two')
    bench.workloads.fail('two', 'ExitCode', 'it broke')
    await bench.phase('two', 'Failed')
    const stored = await bench.records.sessions.transcript({ namespace: 'default', name: 's-1' })
    expect(stored.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'true'],
      ['assistant', 'first answer'],
      ['user', 'true'],
      ['assistant', 'it broke'],
    ])
    const { activeTask } = (await bench.records.sessions.get({ namespace: 'default', name: 's-1' })) ?? {}
    expect(activeTask).toBeUndefined()
  })

  it('is kept for as long as the agent of its last task says', async () => {
    await open()
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.create('Agent', 'brief', { session: { ttl: '1h' } })
    const ai = { type: 'ai', command: undefined, prompt: 'p', sessionRef: session }
    const readSession = () => bench.records.sessions.get({ namespace: 'default', name: 's-1' })
    const run = async (name: string, spec: object) => {
      await bench.submitTask(name, { ...ai, ...spec })
      await bench.running(name)
      bench.workloads.fail(name, 'ExitCode', 'it broke')
      await bench.phase(name, 'Failed')
    }
    await run('one', { agentRef: { name: 'brief' } })
    await bench.jump(59 * 60_000)
    expect(await readSession()).toBeDefined()
    await bench.jump(61_000)
    expect(await readSession()).toBeUndefined()
    await run('two', { agentRef: { name: 'brief' } })
    await run('three', {})
    await bench.jump(2 * 3_600_000)
    expect((await readSession())?.messageCount).toBe(4)
  })

  it('gets the outcome from the worker if the worker wrote one, else from the service', async () => {
    await open()
    const task = await bench.submitTask('teller', { sessionRef: session })
    await bench.running('teller')
    const worker = createWorkerConversation({ ports: bench } as never)
    const identity = { taskUid: task.metadata.uid, attempt: 1, namespace: 'default', taskName: 'teller' }
    const messages = [{ role: 'assistant' as const, content: 'in my own words' }]
    await worker.appendTranscript(identity, identity, { messages, dedupe: 'outcome' })
    bench.workloads.succeed('teller', 'plain output')
    await bench.phase('teller', 'Succeeded')
    const stored = await bench.records.sessions.transcript({ namespace: 'default', name: 's-1' })
    expect(stored.map(({ content }) => content)).toEqual(['in my own words'])
  })

  it('counts the tokens of every task that used it once, whether or not the task appends messages', async () => {
    await open()
    for (const [name, append] of [
      ['speaker', true],
      ['silent', false],
    ] as const) {
      const { metadata } = await bench.submitTask(name, { sessionRef: { ...session, append } })
      await bench.running(name)
      const call = { inputTokens: 7, outputTokens: 3, cachedTokens: 0, createdAt: new Date().toISOString() }
      const of = { namespace: 'default', provider: 'p', model: 'm', taskUid: metadata.uid, demo: false }
      await bench.records.usage.record([{ id: name, ...call, ...of }])
      bench.workloads.succeed(name, 'said')
      await bench.phase(name, 'Succeeded')
    }
    const key = { namespace: 'default', name: 's-1' }
    expect(await bench.records.sessions.get(key)).toMatchObject({ inputTokens: 14, outputTokens: 6, messageCount: 2 })
  })

  it('fails a task that names a missing session and may not create it', async () => {
    await open()
    await bench.submitTask('lost', { sessionRef: { name: 'nowhere' } })
    const failed = await bench.phase('lost', 'Failed')
    expect(failed.status?.message).toMatch(/session "nowhere" does not exist.*sessionRef.create/)
  })

  it('is freed by a task that is cancelled or deleted while it runs', async () => {
    await open()
    await bench.submitTask('one', { sessionRef: session })
    await bench.running('one')
    await bench.resources.remove('Task', { namespace: 'default', name: 'one' })
    await bench.submitTask('two', { sessionRef: session })
    await bench.running('two')
  })

  it('gives an ai task its newest messages only [SESS-015]', async () => {
    await open()
    await bench.create('Provider', 'default', { type: 'demo' })
    const key = { namespace: 'default', name: 's-1' }
    await bench.records.sessions.ensure(key, { create: true, sessionType: 'task' })
    const said = ['a', 'b', 'c'].map((content) => ({ role: 'user' as const, content }))
    await bench.records.sessions.append(key, said)
    const sessionRef = { name: 's-1', maxMessages: 2 }
    await bench.submitTask('talk', { type: 'ai', command: undefined, prompt: 'd', sessionRef })
    await bench.running('talk')
    const { run } = bench.workloads.specOf('talk')
    const messages = run.kind === 'worker' ? run.assignment.session?.messages : []
    expect(messages?.map((message) => message.content)).toEqual(['b', 'c'])
  })
})
