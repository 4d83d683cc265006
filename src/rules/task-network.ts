// Tasks whose code has no network: the service says so in an annotation that nobody else can set.
import type { Task } from '../contract/resources/task.ts'

export const networkAnnotation = 'svc.ai/network'

/** Whether the code of the task may open connections. */
export function hasNetwork({ metadata }: Pick<Task, 'metadata'>): boolean {
  return metadata.annotations?.[networkAnnotation] !== 'none'
}
