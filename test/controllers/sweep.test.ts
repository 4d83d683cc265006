// What is removed because nobody owns it or because it is old.
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createSweepController,
  defaultRetention,
  type RetentionSettings,
} from '../../src/controllers/resources/sweep.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.dispose())

async function sweep(settings: RetentionSettings = defaultRetention) {
  const { resources, records, clock, log } = bench
  const leftovers = [{ name: 'bodies', run: records.sweepOrphans }]
  const deps = { resources, records, owners: records.owners, leftovers, clock, log, settings }
  await createSweepController(deps).reconcile('sweep', new AbortController().signal)
}
const putResult = (taskUid: string) =>
  bench.records.results.put({ taskUid, attempt: 1 }, Readable.from([Buffer.from('x')]), 'text/plain')

describe('the sweep', () => {
  it('removes records whose task is gone and keeps those of existing tasks [TASK-063]', async () => {
    const { metadata } = await bench.submitTask('here')
    await putResult(metadata.uid)
    await putResult('0192-gone')
    await bench.records.logs.append({ taskUid: '0192-gone', attempt: 1 }, ['x'])
    await sweep()
    expect(await bench.records.results.get('0192-gone')).toBeUndefined()
    expect(await bench.records.results.get(metadata.uid)).toBeDefined()
    expect(await bench.records.owners.taskUids(undefined, 10)).toEqual([metadata.uid])
  })

  it('removes leftovers of every sort, also when one of them cannot be', async () => {
    const asked: string[] = []
    const { resources, records, clock, log } = bench
    const sweepBodies = async () => {
      asked.push('bodies')
      return records.sweepOrphans()
    }
    const sweepOthers = async () => {
      asked.push('others')
      throw new Error('not now')
    }
    const leftovers = [
      { name: 'others', run: sweepOthers },
      { name: 'bodies', run: sweepBodies },
    ]
    const deps = { resources, records, owners: records.owners, leftovers, clock, log, settings: defaultRetention }
    await createSweepController(deps).reconcile('sweep', new AbortController().signal)
    expect(asked).toEqual(['others', 'bodies'])
  })

  it('removes sessions that were not used for a long time, but none that a task has locked', async () => {
    const { sessions } = bench.records
    for (const name of ['old', 'held', 'new']) {
      if (name === 'new') await bench.jump(91 * 86_400_000)
      await sessions.ensure({ namespace: 'default', name }, { create: true, sessionType: 'chat' })
    }
    await sessions.lock({ namespace: 'default', name: 'held' }, 'somebody')
    await sweep()
    const left = await sessions.list({ namespace: 'default', limit: 10 })
    expect(left.items.map((session) => session.name).toSorted()).toEqual(['held', 'new'])
  })

  it('removes the health of providers that were not called for a long time', async () => {
    const { providerHealth } = bench.records
    const quiet = { namespace: 'default', name: 'quiet' }
    const busy = { namespace: 'default', name: 'busy' }
    await providerHealth.note([{ provider: quiet, goodAt: bench.clock.now(), failures: 0 }])
    await bench.jump(31 * 86_400_000)
    await providerHealth.note([{ provider: busy, goodAt: bench.clock.now(), failures: 0 }])
    await sweep()
    expect(await providerHealth.read(quiet)).toBeUndefined()
    expect(await providerHealth.read(busy)).toBeDefined()
  })

  it('keeps records without a retention time for ever', async () => {
    await bench.records.sessions.ensure({ namespace: 'default', name: 'old' }, { create: true, sessionType: 'chat' })
    await bench.jump(1000 * 86_400_000)
    const { sessionsMs: _sessions, ...rest } = defaultRetention
    await sweep(rest)
    expect(await bench.records.sessions.get({ namespace: 'default', name: 'old' })).toBeDefined()
  })

  const days = (count: number) => count * 86_400_000

  it('removes each kind of record at its own age, and no other [OPS-001]', async () => {
    const { sessions, events, usage, audit } = bench.records
    const askedFor: Record<string, number> = {}
    for (const [kind, store] of Object.entries({ sessions, events, usage, audit })) {
      store.sweep = async (before) => {
        askedFor[kind] = bench.clock.now().getTime() - before.getTime()
        return 0
      }
    }
    await sweep({ intervalMs: 1, sessionsMs: days(1), eventsMs: days(2), usageMs: days(3), auditMs: days(4) })
    expect(askedFor).toEqual({ sessions: days(1), events: days(2), usage: days(3), audit: days(4) })
    for (const kind of Object.keys(askedFor)) delete askedFor[kind]
    await sweep({ intervalMs: 1, usageMs: days(5) })
    expect(askedFor).toEqual({ usage: days(5) })
  })

  it('keeps usage 400 days and the audit log 90 unless told otherwise [OPS-002]', () => {
    expect(defaultRetention).toMatchObject({ tasksMs: days(30), usageMs: days(400), auditMs: days(90) })
  })

  it('keeps sessions 90 days and events 30, results and logs as long as their task [OPS-003]', async () => {
    const { sessions, events, results, logs } = bench.records
    const key = { namespace: 'default', name: 'talk' }
    const { uid: taskUid, name: taskName } = (await bench.submitTask('here')).metadata
    await bench.pause()
    const about = { taskUid, taskName, attempt: 1, namespace: 'default' }
    await sessions.ensure(key, { create: true, sessionType: 'chat' })
    await events.append({ ...about, type: 'Said', message: 'long ago' })
    await putResult(taskUid)
    await logs.append(about, ['said'])
    const listKept = async () => {
      await sweep()
      const said = (await events.list({ taskUid })).some(({ type }) => type === 'Said')
      const lines: unknown[] = []
      for await (const line of logs.read(taskUid, {})) lines.push(line)
      const result = await results.get(taskUid)
      return [await sessions.get(key), said || undefined, result, lines[0]].map((kept) => kept !== undefined)
    }
    await bench.jump(days(30))
    expect(await listKept()).toEqual([true, true, true, true])
    await bench.jump(1)
    expect(await listKept()).toEqual([true, false, true, true])
    await bench.jump(days(60) - 1)
    expect(await listKept()).toEqual([true, false, true, true])
    await bench.jump(1)
    expect(await listKept()).toEqual([false, false, true, true])
    bench.resume()
    await bench.resources.remove('Task', { namespace: 'default', name: 'here' })
    await waitFor(async () => (await results.get(taskUid)) === undefined || undefined, 'the records to go')
    expect(await listKept()).toEqual([false, false, false, false])
  })

  it('covers every kind of record that the stores have, by its task or by its age', async () => {
    const { owners: _owners, ...stores } = bench.records
    // Budgets are settings: who made one removes it. What is known of transcripts goes with their sessions, and vectors go
    // with their memories. Proposals last. What a scan has found or was given goes with the scan, which its own controller sees to.
    // Execution workspaces have a sweep of their own: behind each record is something that has to be deleted first. Changes
    // are told, not stored, and ends are stored as what they hand in. Versions of agents go with their agents.
    const lasting = [
      'budgets',
      'memoryProposals',
      'transcripts',
      'memoryVectors',
      'scans',
      'scanImports',
      'findings',
      'workspaces',
      'changes',
      'ends',
      'agentVersions',
    ]
    const nouns = Object.entries(stores).filter(([noun, store]) => typeof store === 'object' && !lasting.includes(noun))
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

  it('continues with the other kinds when one of them fails', async () => {
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
