import { describe, expect, it } from 'vitest'
import { pause, waitFor } from '../../../test/fixtures/time.ts'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Leadership } from '../../ports/service/leadership.ts'
import { type ControllerDefinition, createPushSource, defineController } from './controller.ts'
import { createControllerRunner } from './runner.ts'

/** Real time, shortened: every sleep is over at the next turn of the event loop. */
const hasty: Clock = {
  now: () => new Date(),
  sleep: (_ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      setImmediate(resolve)
    }),
}

function createLeadership() {
  const terms: AbortController[] = []
  const world = { mayLead: true, released: 0 }
  const leadership: Leadership = {
    async acquire(signal) {
      while (!world.mayLead) {
        if (signal.aborted) throw signal.reason
        await new Promise((resolve) => setImmediate(resolve))
      }
      const term = new AbortController()
      terms.push(term)
      return term.signal
    },
    requireTerm: () => undefined,
    async release() {
      world.released += 1
    },
  }
  return { leadership, world, terms }
}

function openRunner(definition: Partial<ControllerDefinition> & Pick<ControllerDefinition, 'reconcile'>) {
  const source = createPushSource('test')
  const warnings: string[] = []
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_fields: unknown, message?: string) => void warnings.push(message ?? ''),
    error: () => undefined,
  }
  const lead = createLeadership()
  const controller = defineController({ name: 'test', sources: [source], ...definition })
  const ids = { random: () => 0.5 }
  const runner = createControllerRunner({
    controllers: [controller],
    leadership: lead.leadership,
    clock: hasty,
    ids,
    log,
  })
  return { ...lead, runner, source, warnings }
}

describe('the runner', () => {
  it('tries a key again after an error and says so', async () => {
    let tries = 0
    const { runner, source, warnings } = openRunner({
      async reconcile() {
        tries += 1
        if (tries < 3) throw new Error('not yet')
        return undefined
      },
    })
    runner.start()
    await waitFor(() => {
      source.push('a')
      return tries >= 3
    })
    await runner.stop()
    expect(warnings).toEqual(['reconcile failed; trying again', 'reconcile failed; trying again'])
  })

  it('makes no noise about a conflict, which only says that somebody else wrote first', async () => {
    let tries = 0
    const { runner, source, warnings } = openRunner({
      async reconcile() {
        tries += 1
        if (tries === 1) throw new SvcError('Conflict', 'stale')
        return undefined
      },
    })
    runner.start()
    await waitFor(() => {
      source.push('a')
      return tries >= 2
    })
    await runner.stop()
    expect(warnings).toEqual([])
  })

  it('says how many names wait for their turn, none when it has stopped', async () => {
    const busy = Promise.withResolvers<undefined>()
    const { runner, source } = openRunner({ concurrency: 1, reconcile: () => busy.promise })
    expect(runner.depth()).toBe(0)
    runner.start()
    await waitFor(() => {
      for (const key of ['a', 'b', 'c']) source.push(key)
      return runner.depth() > 0
    })
    expect(runner.depth()).toBe(2)
    busy.resolve(undefined)
    await waitFor(() => runner.depth() === 0)
    await runner.stop()
    expect(runner.depth()).toBe(0)
  })

  it('runs a source again when it breaks', async () => {
    let runs = 0
    const { runner } = openRunner({
      sources: [
        {
          name: 'fragile',
          async run() {
            runs += 1
            throw new Error('broken')
          },
        },
      ],
      reconcile: async () => undefined,
    })
    runner.start()
    await waitFor(() => runs >= 3)
    await runner.stop()
  })

  it('does nothing while another leads, and stops at once when it loses the lead', async () => {
    const seen: AbortSignal[] = []
    const { runner, source, world, terms } = openRunner({
      async reconcile(_key, signal) {
        seen.push(signal)
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        return undefined
      },
    })
    world.mayLead = false
    runner.start()
    source.push('a')
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen).toEqual([])
    world.mayLead = true
    await waitFor(() => {
      source.push('a')
      return seen.length === 1
    })
    terms[0]?.abort()
    await waitFor(() => terms.length === 2)
    expect(seen[0]?.aborted).toBe(true)
    await runner.stop()
  })

  it('begins each term anew', async () => {
    let begun = 0
    const { runner, terms } = openRunner({
      begin() {
        begun += 1
      },
      reconcile: async () => undefined,
    })
    runner.start()
    await waitFor(() => begun === 1)
    terms[0]?.abort()
    await waitFor(() => begun === 2)
    await runner.stop()
  })

  it('waits for running work when it stops, then gives the lead up', async () => {
    let finish: () => void = () => undefined
    let started = false
    const { runner, source, world } = openRunner({
      async reconcile() {
        started = true
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return undefined
      },
    })
    runner.start()
    await waitFor(() => {
      source.push('a')
      return started
    })
    let stopped = false
    const stop = runner.stop().then(() => {
      stopped = true
    })
    await pause(20)
    expect([stopped, world.released]).toEqual([false, 0])
    finish()
    await stop
    expect(world.released).toBe(1)
  })

  it('aborts work that does not end within the grace', async () => {
    let started = false
    const { runner, source } = openRunner({
      async reconcile(_key, signal) {
        started = true
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        return undefined
      },
    })
    runner.start()
    await waitFor(() => {
      source.push('a')
      return started
    })
    await runner.stop()
  })
})
