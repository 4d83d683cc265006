import { describe, expect, it } from 'vitest'
import { SvcError } from '../errors.ts'
import type { Workloads } from '../ports/tasks/workloads.ts'
import { bindTerm } from './term.ts'

const never = new AbortController().signal
const key = { taskUid: 'u1', attempt: 1 }

function open() {
  const term = new AbortController()
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const workloads = { ensure: note('ensure'), remove: note('remove'), detach: note('detach') } as never as Workloads & {
    detach(): Promise<void>
  }
  const led = { isOver: true }
  const leadership = {
    acquire: async () => term.signal,
    requireTerm() {
      if (led.isOver) throw new SvcError('Unavailable', 'this replica does not lead any more')
    },
    release: note('release'),
  }
  return { term, led, done, ...bindTerm({ leadership, workloads }) }
}

describe('a term of leadership', () => {
  it('allows attempts to be started and removed only while it lasts', async () => {
    const { led, done, leadership, term, workloads } = open()
    await expect(workloads.ensure({} as never)).rejects.toMatchObject({ reason: 'Unavailable' })
    await leadership.acquire(never)
    led.isOver = false
    await workloads.ensure({} as never)
    await workloads.remove(key)
    // A replica that was suspended has not seen the end of its term yet.
    led.isOver = true
    await expect(workloads.ensure({} as never)).rejects.toMatchObject({ reason: 'Unavailable' })
    await expect(workloads.remove(key)).rejects.toMatchObject({ reason: 'Unavailable' })
    term.abort()
    expect(done).toEqual(['ensure', 'remove', 'detach'])
  })
})
