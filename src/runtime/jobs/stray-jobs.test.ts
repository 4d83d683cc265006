import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { ApiRequest, KubernetesApi } from '../../cluster/api.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isLiveIn } from '../../lookup/live-task.ts'
import type { GetOptions, ResourceReader } from '../../ports/resources/resources.ts'
import { podLabels } from './objects.ts'
import { createStrayJobs } from './stray-jobs.ts'

const clock = createManualClock()

function makeJob(taskName: string, attempt: number, { ageMs = 60_000, uid = `uid-${taskName}` } = {}) {
  return {
    metadata: {
      name: `${taskName}-${attempt}`,
      namespace: 'team',
      uid: `job-${taskName}-${attempt}`,
      resourceVersion: '1',
      creationTimestamp: new Date(clock.now().getTime() - ageMs).toISOString(),
      labels: { [podLabels.task]: taskName, [podLabels.taskUid]: uid, [podLabels.attempt]: String(attempt) },
    },
  }
}

function makeTask(name: string, phase: string, attempts: number, queuedReason?: string): [string, Task] {
  const status = { phase, attempts, queuedReason }
  return [name, { metadata: { name, namespace: 'team', uid: `uid-${name}` }, status } as never]
}

async function sweep(items: object[], tasks: [string, Task][], latest = tasks): Promise<string[]> {
  const removed: string[] = []
  const request = async ({ verb, collection, name }: ApiRequest) => {
    if (verb === 'delete') removed.push(`${collection.plural} ${name}`)
    return { items }
  }
  const get = async (_kind: string, { name }: { name: string }, options?: GetOptions) =>
    new Map(options?.latest ? latest : tasks).get(name)
  const options = {
    api: { request } as Pick<KubernetesApi, 'request'>,
    isLive: isLiveIn({ get } as never as ResourceReader),
    clock,
    instance: 'svc-system',
  }
  await createStrayJobs(options).sweep(new AbortController().signal)
  return removed
}

describe('the sweep of stray Jobs', () => {
  it('removes Jobs of earlier attempts, and of tasks that ended, were created again, or are gone', async () => {
    const items = [
      makeJob('again', 1),
      makeJob('again', 2),
      makeJob('over', 1),
      makeJob('gone', 1),
      makeJob('anew', 1, { uid: 'uid-of-the-first' }),
    ]
    const tasks = [makeTask('again', 'Running', 2), makeTask('over', 'Succeeded', 1), makeTask('anew', 'Running', 1)]
    expect(await sweep(items, tasks)).toEqual(
      ['again-1', 'over-1', 'gone-1', 'anew-1'].flatMap((name) => [`jobs ${name}`, `secrets ${name}`]),
    )
  })

  it('leaves the Job of an attempt that another replica began, and this one has not seen', async () => {
    expect(
      await sweep([makeJob('again', 2)], [makeTask('again', 'Running', 1)], [makeTask('again', 'Running', 2)]),
    ).toEqual([])
  })

  it('leaves the Job of a task that is Pending since its pod cannot start', async () => {
    const tasks = [makeTask('waits', 'Pending', 1, 'ImageUnavailable'), makeTask('retries', 'Pending', 1, 'RetryDelay')]
    const items = [makeJob('waits', 1), makeJob('retries', 1)]
    expect(await sweep(items, tasks)).toEqual(['jobs retries-1', 'secrets retries-1'])
  })

  it('leaves Jobs that are young, Jobs that run, and Jobs that are no attempts', async () => {
    const items = [
      makeJob('over', 1, { ageMs: 29_000 }),
      makeJob('runs', 1),
      { metadata: { ...makeJob('x', 1).metadata, labels: {} } },
    ]
    expect(await sweep(items, [makeTask('over', 'Succeeded', 1), makeTask('runs', 'Running', 1)])).toEqual([])
  })
})
