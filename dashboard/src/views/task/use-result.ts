import { getTaskResult, type TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjectRecord } from '../../data/records.ts'
import type { TaskPlace } from './place.ts'

export type ResultOf = { task: TaskDetail; place: TaskPlace }

/** Its text, once there is one. */
export function useResult({ task, place }: ResultOf) {
  const isThere = task.status?.resultRef?.available === true
  const result = useObjectRecord('Task', getTaskResult, place, { isEnabled: isThere })
  return { ...result, isThere, text: result.data?.result }
}
