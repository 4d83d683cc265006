import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/time.ts'
import { createLeasedQueue } from './leased-queue.ts'

type Entry = { id: string; attempts: number }

function openQueue(handle: (entry: Entry) => Promise<string>) {
  const clock = createManualClock()
  const log: unknown[] = []
  const queue = createLeasedQueue<Entry, string, { why: string }>({
    store: {
      claim: async (id) => (id === 'taken' ? undefined : { id, attempts: 2 }),
      extend: async (id) => Boolean(log.push(['extend', id])),
      settle: async (id, worker, end) => Boolean(log.push(['settle', id, worker, end])),
      postpone: async (id, worker, again) => Boolean(log.push(['postpone', id, worker, again])),
    },
    clock,
    ids: { next: () => 'w', random: () => 1, hex: () => '' },
    leaseMs: 3000,
    concurrency: 2,
    backoff: { firstMs: 100, maxMs: 1000 },
    handle,
    judge: (error) => (String(error).includes('bad') ? { end: 'failed' } : { again: { why: 'away' } }),
  })
  return { clock, log, queue }
}

describe('a leased queue', () => {
  it('settles what was handled, and leaves alone what another worker has', async () => {
    const { queue, log } = openQueue(async () => 'done')
    await Promise.all([queue.process('a', ''), queue.process('taken', '')])
    expect(log).toEqual([['settle', 'a', 'w', 'done']])
  })

  it('handles an entry once, however often it is found meanwhile', async () => {
    const { queue, log } = openQueue(async () => 'done')
    await Promise.all([queue.process('a', ''), queue.process('a', ''), queue.process('a', '')])
    expect(log).toHaveLength(1)
  })

  it('postpones a failure by the backoff of its attempts, and ends what trying again does not help', async () => {
    const { queue, log } = openQueue(async ({ id }) => Promise.reject(new Error(id)))
    await queue.process('away', '')
    await queue.process('bad', '')
    expect(log).toEqual([
      ['postpone', 'away', 'w', { why: 'away', afterMs: 200 }],
      ['settle', 'bad', 'w', 'failed'],
    ])
  })

  it('extends the lease while it works', async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { queue, log, clock } = openQueue(() => promise)
    const processed = queue.process('slow', '')
    await clock.advance(2500)
    expect(log).toEqual([
      ['extend', 'slow'],
      ['extend', 'slow'],
    ])
    resolve('done')
    await processed
    expect(log.at(-1)).toEqual(['settle', 'slow', 'w', 'done'])
  })
})
