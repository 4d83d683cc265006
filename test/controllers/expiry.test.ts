// When tasks that have ended go.
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sweepEndedTasks } from '../../src/controllers/tasks/expiry.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

const dayMs = 86_400_000

async function finish(name: string, spec: object = {}): Promise<string> {
  const { metadata } = await bench.submitTask(name, spec)
  await bench.running(name)
  bench.workloads.succeed(name)
  await waitFor(async () => {
    const task = await bench.getTask(name)
    return task === undefined || task.status?.phase === 'Succeeded' || undefined
  }, `${name} ends`)
  return metadata.uid
}
const gone = (name: string) =>
  waitFor(async () => (await bench.getTask(name)) === undefined || undefined, `${name} goes`)

describe('a task that says how long it stays', () => {
  it('is removed then, with its records, and not before', async () => {
    const uid = await finish('short', { ttlSecondsAfterFinished: 60 })
    await bench.records.results.put({ taskUid: uid, attempt: 1 }, Readable.from([Buffer.from('x')]), 'text/plain')
    await bench.jump(59_000)
    await finish('other')
    expect(await bench.getTask('short')).toBeDefined()
    await bench.jump(1_000)
    await gone('short')
    await waitFor(async () => (await bench.records.results.get(uid)) === undefined || undefined, 'no record is left')
    expect(await bench.getTask('other')).toBeDefined()
  })

  it('is removed at once with 0, also when that is set after its end', async () => {
    await finish('now', { ttlSecondsAfterFinished: 0 })
    await gone('now')
    await finish('later')
    const task = await bench.getTask('later')
    if (task === undefined) throw new Error('gone')
    await bench.resources.update('Task', { ...task, spec: { ...task.spec, ttlSecondsAfterFinished: 0 } })
    await gone('later')
  })

  it('is removed at the next start when its time passed while the service was down', async () => {
    await finish('short', { ttlSecondsAfterFinished: 60 })
    await bench.pause()
    await bench.jump(3_600_000)
    bench.resume()
    await gone('short')
  })
})

describe('tasks without a time of their own', () => {
  const sweep = (keptMs: number) => sweepEndedTasks(bench, keptMs, new AbortController().signal)

  it('are removed when they ended longer ago than tasks are kept, except those with a longer time of their own', async () => {
    await finish('old')
    await finish('kept', { ttlSecondsAfterFinished: (60 * dayMs) / 1000 })
    await bench.jump(30 * dayMs - 1000)
    await finish('young')
    await bench.submitTask('runs')
    await bench.running('runs')
    expect(await sweep(30 * dayMs)).toBe(0)
    await bench.jump(1000)
    expect(await sweep(30 * dayMs)).toBe(1)
    await gone('old')
    for (const name of ['kept', 'young', 'runs']) expect(await bench.getTask(name)).toBeDefined()
  })
})
