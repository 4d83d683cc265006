// What is removed because nobody owns it or because it is old.
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSweepController, defaultRetention, type RetentionSettings } from '../../src/controllers/records/sweep.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

async function sweep(settings: RetentionSettings = defaultRetention) {
  const { resources, records, clock, log } = bench
  const { owners, sweepOrphans: sweepBodies } = records
  const deps = { resources, records, owners, sweepBodies, clock, log, settings }
  await createSweepController(deps).reconcile('sweep', new AbortController().signal)
}
const putResult = (taskUid: string) =>
  bench.records.results.put({ taskUid, attempt: 1 }, Readable.from([Buffer.from('x')]), 'text/plain')

describe('the sweep', () => {
  it('removes records whose task is gone and leaves those of tasks there are [TASK-063]', async () => {
    const { metadata } = await bench.submitTask('here')
    await putResult(metadata.uid)
    await putResult('0192-gone')
    await bench.records.logs.append({ taskUid: '0192-gone', attempt: 1 }, ['x'])
    await sweep()
    expect(await bench.records.results.get('0192-gone')).toBeUndefined()
    expect(await bench.records.results.get(metadata.uid)).toBeDefined()
    expect(await bench.records.owners.taskUids(undefined, 10)).toEqual([metadata.uid])
  })

  it('removes bodies that a crash left without a row', async () => {
    let asked = 0
    const { resources, records, clock, log } = bench
    const sweepBodies = async () => {
      asked += 1
      return records.sweepOrphans()
    }
    const deps = { resources, records, owners: records.owners, sweepBodies, clock, log, settings: defaultRetention }
    await createSweepController(deps).reconcile('sweep', new AbortController().signal)
    expect(asked).toBe(1)
  })

  it('removes sessions that were not touched for long, and none that a task holds [OPS-001]', async () => {
    const { sessions } = bench.records
    for (const name of ['old', 'held', 'new']) {
      if (name === 'new') bench.clock.advance(91 * 86_400_000)
      await sessions.ensure({ namespace: 'default', name }, { create: true, sessionType: 'chat' })
    }
    await sessions.lock({ namespace: 'default', name: 'held' }, 'somebody')
    await sweep()
    const left = await sessions.list({ namespace: 'default', limit: 10 })
    expect(left.items.map((session) => session.name).toSorted()).toEqual(['held', 'new'])
  })

  it('removes what is known of providers that were not called for long', async () => {
    const { providerHealth } = bench.records
    const quiet = { namespace: 'default', name: 'quiet' }
    const busy = { namespace: 'default', name: 'busy' }
    await providerHealth.note([{ provider: quiet, goodAt: bench.clock.now(), failures: 0 }])
    bench.clock.advance(31 * 86_400_000)
    await providerHealth.note([{ provider: busy, goodAt: bench.clock.now(), failures: 0 }])
    await sweep()
    expect(await providerHealth.read(quiet)).toBeUndefined()
    expect(await providerHealth.read(busy)).toBeDefined()
  })

  it('keeps for ever what no retention is set for', async () => {
    await bench.records.sessions.ensure({ namespace: 'default', name: 'old' }, { create: true, sessionType: 'chat' })
    bench.clock.advance(1000 * 86_400_000)
    const { sessionsMs: _sessions, ...rest } = defaultRetention
    await sweep(rest)
    expect(await bench.records.sessions.get({ namespace: 'default', name: 'old' })).toBeDefined()
  })

  it('keeps sessions 90 days, events 30 and usage 400 unless told otherwise [OPS-002, OPS-003]', () => {
    const days = (count: number) => count * 86_400_000
    expect(defaultRetention).toMatchObject({ sessionsMs: days(90), eventsMs: days(30), usageMs: days(400) })
  })

  it('leaves out no noun: each goes with its task or with its age, whatever nouns the stores have', async () => {
    const { owners: _owners, ...stores } = bench.records
    const nouns = Object.entries(stores).filter(([, store]) => typeof store === 'object')
    const ended: string[] = []
    const watch = (noun: string, store: object, method: string) =>
      Object.assign(store, { [method]: async () => ended.push(`${noun}.${method}`) })
    const endings = nouns.flatMap(([noun, store]) =>
      ['sweep', 'removeTask'].filter((method) => method in store).map((method) => ({ noun, store, method })),
    )
    expect(new Set(endings.map(({ noun }) => noun))).toEqual(new Set(nouns.map(([noun]) => noun)))
    for (const { noun, store, method } of endings) watch(noun, store, method)
    await sweep()
    await bench.records.owners.removeTask('0192-gone')
    expect(ended.toSorted()).toEqual(endings.map(({ noun, method }) => `${noun}.${method}`).toSorted())
  })

  it('goes on with the rest when one of them fails', async () => {
    const { sessions, usage } = bench.records
    let usageSwept = false
    sessions.sweep = () => Promise.reject(new Error('no'))
    usage.sweep = async () => {
      usageSwept = true
      return 1
    }
    await sweep()
    expect(bench.lines.map((line) => line.fields)).toContainEqual({ sweep: 'sessions', error: 'no' })
    expect(usageSwept).toBe(true)
  })
})
