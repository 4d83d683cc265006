// Changes single fields of a task that has not started, whoever else writes it meanwhile.
import type { Client } from '../client/client.ts'
import { getTask, updateTask } from '../contract/api/tasks.ts'
import type { Task } from '../contract/resources/task.ts'
import { isSvcError } from '../errors.ts'
import type { TaskTarget } from './artifact-files.ts'

const tries = 3

/** Another writer in between is no reason to refuse; a task that has started meanwhile is. */
export async function changeSpec(client: Client, target: TaskTarget, change: object): Promise<Task> {
  for (let left = tries; ; left -= 1) {
    const { metadata, spec } = await client.call(getTask, target)
    const { resourceVersion, uid } = metadata
    try {
      const body = { metadata: { resourceVersion, uid }, spec: { ...spec, ...change } }
      return await client.call(updateTask, { ...target, body })
    } catch (error) {
      const isStale = isSvcError(error, 'Conflict') && error.details === undefined
      if (!isStale || left === 1) throw error
    }
  }
}
