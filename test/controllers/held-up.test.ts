// Attempts that wait for a node, an image or a quota: what their tasks show, and what counts as their time.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const noRoom = 'waiting for a place on a node: 0/1 nodes are available: 1 Too many pods.'
const messageIs = (message: string) => (task: { status?: { message?: string | undefined } | undefined }) =>
  task.status?.message === message

async function holdUp(name: string, spec: object = {}) {
  await bench.submitTask(name, spec)
  await bench.running(name)
  bench.workloads.holdUp(name, 'Unschedulable', noRoom)
  return await bench.taskWhen(name, messageIs(noRoom), 'says what it waits for')
}

describe('a task whose attempt cannot begin', () => {
  it('shows the reason in its status and a condition, and does not time out meanwhile [TASK-041]', async () => {
    const waiting = await holdUp('big', { timeout: '1m' })
    const condition = { type: 'WaitingToRun', status: 'True', reason: 'Unschedulable', message: noRoom }
    expect(waiting.status?.conditions).toContainEqual(expect.objectContaining(condition))
    expect(waiting.status).toMatchObject({ phase: 'Pending', queuedReason: 'Unschedulable', attempts: 1 })
    await bench.jump(600_000)
    const text = 'waiting for a place on a node: 0/1 nodes are available: 1 Insufficient memory.'
    bench.workloads.holdUp('big', 'Unschedulable', text)
    await bench.taskWhen('big', messageIs(text), 'says what it waits for now')
    bench.workloads.begin('big')
    const begun = await bench.taskWhen('big', messageIs('attempt 1 runs'), 'runs')
    expect(begun.status).toMatchObject({ phase: 'Running', attempts: 1, startTime: '2026-03-01T12:10:00.000Z' })
    expect(begun.status?.conditions?.map(({ type }) => type)).toEqual(['JobCreated'])
    expect(begun.status?.queuedReason).toBeUndefined()
    const told = (await bench.eventsOf('big')).map(({ phase, reason }) => [phase, reason])
    expect(told.slice(-2)).toEqual([
      ['Pending', 'Unschedulable'],
      ['Running', undefined],
    ])
    await bench.jump(59_000)
    bench.workloads.succeed('big')
    await bench.phase('big', 'Succeeded')
  })

  it('times out once it has run for its timeout, not before [TASK-041]', async () => {
    await holdUp('big', { timeout: '1m' })
    await bench.jump(600_000)
    bench.workloads.begin('big')
    await bench.taskWhen('big', messageIs('attempt 1 runs'), 'runs')
    await bench.jump(60_000)
    const failed = await bench.phase('big', 'Failed')
    expect(failed.status?.message).toMatch(/^task timed out after 1m/)
    expect(failed.status?.completionTime).toBe('2026-03-01T12:11:00.000Z')
  })

  it('uses no budget of time before it has run', async () => {
    const waiting = await holdUp('big', { budget: { maxDuration: '1m' } })
    expect(waiting.status?.firstStartTime).toBeUndefined()
    await bench.jump(600_000)
    bench.workloads.begin('big')
    const begun = await bench.taskWhen('big', messageIs('attempt 1 runs'), 'runs')
    expect(begun.status?.firstStartTime).toBe('2026-03-01T12:10:00.000Z')
    await bench.jump(60_000)
    const failed = await bench.phase('big', 'Failed')
    expect(failed.status?.message).toMatch(/^the budget of 1m for task "big" is used up: it began 1m ago/)
  })

  it('is repeated, not timed out, when its attempt is lost while it waits [TASK-041] [TASK-043]', async () => {
    await holdUp('big', { timeout: '1m' })
    await bench.jump(600_000)
    bench.workloads.fail('big', 'Stopped', 'the attempt was lost: its pod was deleted')
    const again = await bench.taskWhen('big', ({ status }) => status?.attempts === 2, 'runs again')
    expect(again.status).toMatchObject({ phase: 'Running', interruptions: 1 })
    expect((await bench.eventsOf('big')).map(({ message }) => message)).toContain(
      'attempt 1 was interrupted and will be repeated: the attempt was lost: its pod was deleted',
    )
  })

  it('is written once as long as the reason stays the same', async () => {
    const { metadata } = await holdUp('big')
    for (let times = 0; times < 5; times += 1) bench.workloads.holdUp('big', 'Unschedulable', noRoom)
    // Another task's whole life: what was told before it has been looked at.
    await bench.submitTask('next')
    await bench.running('next')
    bench.workloads.succeed('next')
    await bench.phase('next', 'Succeeded')
    expect((await bench.getTask('big'))?.metadata.resourceVersion).toBe(metadata.resourceVersion)
  })

  it('shows no sign of the wait when it ends without having run', async () => {
    await holdUp('big')
    bench.workloads.fail('big', 'ImageUnavailable', 'the image cannot be pulled: no such image')
    const failed = await bench.phase('big', 'Failed')
    expect(failed.status?.conditions?.map(({ type }) => type)).toEqual(['JobCreated', 'Failed', 'Complete'])
  })
})

describe('the resources of a task', () => {
  it('are passed to the attempt: requests and limits', async () => {
    const resources = { requests: { cpu: '250m', memory: '64Mi' }, limits: { memory: '128Mi' } }
    await bench.submitTask('sized', { resources })
    await bench.running('sized')
    expect(bench.workloads.specOf('sized').limits).toEqual({
      cpu: 1,
      memoryBytes: 128 * 1024 ** 2,
      diskBytes: 2 * 1024 ** 3,
      requests: { cpu: 0.25, memoryBytes: 64 * 1024 ** 2 },
    })
  })

  it('are those of the service where the task names none, amount by amount', async () => {
    await bench.dispose()
    const requests = { cpu: 0.5, memoryBytes: 512 * 1024 ** 2 }
    const defaultLimits = { cpu: 2, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, requests }
    bench = await openBench({ settings: { defaultLimits } })
    await bench.submitTask('plain')
    await bench.submitTask('sized', { resources: { requests: { cpu: '250m' } } })
    await bench.running('plain')
    await bench.running('sized')
    expect(bench.workloads.specOf('plain').limits).toEqual(defaultLimits)
    expect(bench.workloads.specOf('sized').limits).toEqual({ ...defaultLimits, requests: { ...requests, cpu: 0.25 } })
  })

  it('do not become limits: what reserves more than the usual has no limit, but for the size of its workspace', async () => {
    await bench.dispose()
    bench = await openBench({ settings: { defaultLimits: { cpu: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3 } } })
    const requests = { cpu: '4', memory: '2Gi', 'ephemeral-storage': '3Gi' }
    await bench.submitTask('big', { resources: { requests } })
    await bench.running('big')
    expect(bench.workloads.specOf('big').limits).toEqual({
      diskBytes: 3 * 1024 ** 3,
      requests: { cpu: 4, memoryBytes: 2 * 1024 ** 3, diskBytes: 3 * 1024 ** 3 },
    })
  })

  it('are larger in a git repository, which may take the whole workspace', async () => {
    const workspace = { gitRepo: 'https://code.example/owner/repo' }
    const resources = { limits: { 'ephemeral-storage': '20Gi' } }
    await bench.submitTask('usual', { workspace })
    await bench.submitTask('sized', { workspace, resources })
    for (const [name, gibibytes] of [
      ['usual', 10],
      ['sized', 20],
    ] as const) {
      await bench.running(name)
      const [bytes, files] = [gibibytes * 1024 ** 3, 1024 ** 2]
      const { limits, checkout } = bench.workloads.specOf(name)
      expect(limits).toMatchObject({ diskBytes: bytes, diskFiles: files })
      expect(checkout?.spec.limits).toEqual({ bytes, files })
    }
  })
})

describe('the objects of an attempt', () => {
  it('carry the labels and annotations of the task that the settings let pass, below what the service stamped', async () => {
    await bench.dispose()
    bench = await openBench({
      settings: { propagated: { labels: ['cost.example.com/', 'team'], annotations: ['mesh.io/'] } },
    })
    const labels = { 'cost.example.com/unit': 'a1', team: 'red', other: 'x' }
    const annotations = { 'mesh.io/inject': 'false', note: 'x' }
    await bench.submitTask('marked', {}, { labels, annotations })
    await bench.running('marked')
    expect(bench.workloads.specOf('marked')).toMatchObject({
      labels: { 'cost.example.com/unit': 'a1', team: 'red' },
      annotations: { 'mesh.io/inject': 'false' },
    })
    expect(bench.workloads.specOf('marked').labels).not.toHaveProperty('other')
    expect(bench.workloads.specOf('marked').annotations).not.toHaveProperty('note')
  })
})
