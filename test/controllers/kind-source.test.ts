// The feed of a kind's objects: nothing is missed when the watch breaks, is too old, or a new term begins.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKindSource } from '../../src/controllers/engine/kind-source.ts'
import { SvcError } from '../../src/errors.ts'
import type { Resources } from '../../src/ports/resources/resources.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
  await bench.pause()
})
afterEach(() => bench.dispose())

/** The real store, whose watches a test can break. */
function makeBreakable(resources: Resources) {
  const watches = new Set<AbortController>()
  let error: unknown
  const breakable: Resources = {
    ...resources,
    async *watch(kind, options) {
      const own = new AbortController()
      watches.add(own)
      yield* resources.watch(kind, { ...options, signal: AbortSignal.any([options.signal, own.signal]) })
      watches.delete(own)
      if (!options.signal.aborted) throw error
    },
  }
  function breakAll(reason: unknown): void {
    error = reason
    for (const watch of watches) watch.abort()
  }
  return { breakable, breakAll, open: () => watches.size }
}

function openSource() {
  const { breakable, breakAll, open } = makeBreakable(bench.resources)
  const seen: string[] = []
  const firsts: number[] = []
  const source = createKindSource({
    kind: 'Skill',
    resources: breakable,
    clock: bench.clock,
    pageSize: 2,
    onFirst: () => void firsts.push(seen.length),
    onObject: ({ type, object }) => void seen.push(`${type} ${object.metadata.name}`),
  })
  return { source, seen, breakAll, open, firsts }
}

const makeSkill = (name: string) => bench.create('Skill', name, { description: 'd', content: { inline: 'x' } })
const removeSkill = (name: string) => bench.resources.remove('Skill', { namespace: 'default', name })

describe('a source of objects', () => {
  it('lists the objects page by page, then reports each change', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await makeSkill(name)
    const { source, seen, firsts } = openSource()
    const stop = new AbortController()
    const running = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 5 ? true : undefined), 'all are listed')
    await makeSkill('f')
    await removeSkill('a')
    await waitFor(() => (seen.length === 7 ? true : undefined), 'changes are told')
    stop.abort()
    await running
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `LISTED ${name}`).concat('ADDED f', 'DELETED a'))
    expect(firsts).toEqual([0])
  })

  it('continues where a broken watch ended, without listing again', async () => {
    await makeSkill('a')
    const { source, seen, breakAll, open } = openSource()
    const stop = new AbortController()
    const first = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 1 && open() === 1 ? true : undefined), 'it watches')
    breakAll(new Error('the connection was lost'))
    await expect(first).rejects.toThrow('the connection was lost')
    await makeSkill('b')
    await removeSkill('a')
    const second = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 3 ? true : undefined), 'what happened meanwhile is told')
    stop.abort()
    await second
    expect(seen).toEqual(['LISTED a', 'ADDED b', 'DELETED a'])
  })

  it('lists again when its version has expired', async () => {
    await makeSkill('a')
    const { source, seen, breakAll, open } = openSource()
    const stop = new AbortController()
    const first = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 1 && open() === 1 ? true : undefined), 'it watches')
    breakAll(new SvcError('Expired', 'too old'))
    await expect(first).rejects.toThrow('too old')
    await makeSkill('b')
    const second = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 3 ? true : undefined), 'both are listed')
    stop.abort()
    await second
    expect(seen).toEqual(['LISTED a', 'LISTED a', 'LISTED b'])
  })

  it('lists again in a new term of leadership, and at intervals', async () => {
    await makeSkill('a')
    const { source, seen } = openSource()
    for (const count of [1, 2]) {
      const stop = new AbortController()
      const running = source.run(() => undefined, stop.signal)
      await waitFor(() => (seen.length === count ? true : undefined), 'it is listed')
      stop.abort()
      await running
    }
    const stop = new AbortController()
    const running = source.run(() => undefined, stop.signal)
    await waitFor(() => (seen.length === 3 ? true : undefined), 'it is listed')
    await bench.jump(600_000)
    await waitFor(() => (seen.length === 4 ? true : undefined), 'it is listed once more')
    stop.abort()
    await running
  })
})
