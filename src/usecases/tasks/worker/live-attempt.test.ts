import { describe, expect, it } from 'vitest'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import type { ResourceReader } from '../../../ports/resources/resources.ts'
import { requireLiveAttempt } from './live-attempt.ts'

const identity = { namespace: 'default', taskName: 'long', taskUid: 'u-2', attempt: 3 }

function makeTask(uid: string, attempts: number, phase = 'Running'): Task {
  return { metadata: { namespace: 'default', name: 'long', uid }, status: { phase, attempts } } as unknown as Task
}

/** A replica that knows what it has seen, beside the source. */
function openReplica(seen: Task | undefined, latest: Task | undefined) {
  const asked: boolean[] = []
  const get = async (_kind: string, _key: object, options: { latest?: boolean } = {}) => {
    asked.push(options.latest ?? false)
    return options.latest ? latest : seen
  }
  return { asked, resources: { get } as unknown as ResourceReader }
}

describe('the live attempt', () => {
  it.each([
    ['an earlier attempt', makeTask('u-2', 2)],
    ['an earlier attempt that was parked', makeTask('u-2', 2, 'Pending')],
    ['another task of the name', makeTask('u-1', 3)],
    ['no task of the name', undefined],
  ])('is accepted by a replica that has seen only %s', async (_name, seen) => {
    const { resources } = openReplica(seen, makeTask('u-2', 3))
    expect((await requireLiveAttempt(resources, identity)).status?.attempts).toBe(3)
  })

  it.each([
    ['a later attempt', makeTask('u-2', 4)],
    ['its end', makeTask('u-2', 3, 'Succeeded')],
  ])('is refused by a replica that has seen %s, which asks nobody', async (_name, seen) => {
    const { resources, asked } = openReplica(seen, undefined)
    await expect(requireLiveAttempt(resources, identity)).rejects.toMatchObject({ reason: 'Forbidden' })
    expect(asked).toEqual([false])
  })

  it('is refused when its task is gone', async () => {
    const { resources } = openReplica(makeTask('u-2', 2), undefined)
    await expect(requireLiveAttempt(resources, identity)).rejects.toMatchObject({ reason: 'Forbidden' })
  })
})
