import { describe, expect, it } from 'vitest'
import { createHastyClock, waitFor } from '../../../test/fixtures/time.ts'
import { SvcError } from '../../errors.ts'
import type { TaskChangesDeps } from './task-changes.ts'
import { createTaskChanges } from './task-changes.ts'

type Step = string | Error

/** A store whose watch gives what the test says: the name of a task that changed, or an error that ends it. */
function makeStore() {
  const steps: Step[] = []
  let wake = () => {}
  const seen = { lists: 0, watches: [] as AbortSignal[], from: [] as unknown[] }
  async function* watch(
    _kind: unknown,
    { signal, resourceVersion }: { signal: AbortSignal; resourceVersion?: string },
  ) {
    seen.watches.push(signal)
    seen.from.push(resourceVersion)
    while (!signal.aborted) {
      const step = steps.shift()
      if (step instanceof Error) throw step
      if (step !== undefined) yield { type: 'MODIFIED', object: { metadata: { namespace: 'n', name: step } } }
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener('abort', () => resolve())
        })
      }
    }
  }
  const list = async () => {
    seen.lists += 1
    return { items: [], resourceVersion: String(seen.lists) }
  }
  const resources = { list, watch } as unknown as TaskChangesDeps['resources']
  return {
    seen,
    resources,
    publish(step: Step) {
      steps.push(step)
      wake()
    },
  }
}

function open() {
  const store = makeStore()
  const changes = createTaskChanges({ resources: store.resources, clock: createHastyClock() })
  const heard: string[] = []
  const listen = (name: string) => changes.onChange({ namespace: 'n', name }, () => heard.push(name))
  return { store, heard, listen }
}

describe('changes of tasks', () => {
  it('are passed to those who wait for that task, over one watch for all of them', async () => {
    const { store, heard, listen } = open()
    const ends = [listen('a'), listen('b'), listen('b')]
    await waitFor(() => heard.length === 3, 'the first look of each')
    store.publish('b')
    store.publish('c')
    await waitFor(() => heard.length === 5, 'both who wait for b')
    expect(heard.slice(3)).toEqual(['b', 'b'])
    expect(store.seen).toMatchObject({ lists: 1, from: ['1'] })
    for (const end of ends) end()
    expect(store.seen.watches.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('that may have been missed make every waiter look again', async () => {
    const { store, heard, listen } = open()
    const ends = [listen('a'), listen('b')]
    await waitFor(() => heard.length === 2, 'the first look of each')
    store.publish(new SvcError('Expired', 'too old'))
    await waitFor(() => heard.length === 4, 'another look of each')
    store.publish('a')
    await waitFor(() => heard.length === 5, 'what the new watch tells')
    expect(store.seen.from).toEqual(['1', '2'])
    for (const end of ends) end()
  })

  it('are watched again for a new waiter after all others have left', async () => {
    const { store, heard, listen } = open()
    listen('a')()
    const end = listen('a')
    await waitFor(() => heard.length > 0, 'the first look')
    store.publish('a')
    await waitFor(() => heard.length > 1, 'a change')
    end()
    expect(store.seen.watches.every(({ aborted }) => aborted)).toBe(true)
  })
})
