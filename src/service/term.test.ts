import { describe, expect, it } from 'vitest'
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
  const leadership = { acquire: async () => term.signal, release: note('release') }
  return { term, done, ...bindTerm({ leadership, workloads }) }
}

describe('a term of leadership', () => {
  it('allows attempts to be started and removed only while it lasts', async () => {
    const { done, leadership, term, workloads } = open()
    await expect(workloads.ensure({} as never)).rejects.toMatchObject({ reason: 'Unavailable' })
    await leadership.acquire(never)
    await workloads.ensure({} as never)
    await workloads.remove(key)
    term.abort()
    await expect(workloads.ensure({} as never)).rejects.toMatchObject({ reason: 'Unavailable' })
    await expect(workloads.remove(key)).rejects.toMatchObject({ reason: 'Unavailable' })
    expect(done).toEqual(['ensure', 'remove', 'detach'])
  })
})
