// Tasks that work on what strangers wrote: the service bounds them by annotations that nobody else can set.

import type { Task } from '../../contract/kinds/tasks/task.ts'
import { tryParseJson } from '../../contract/schema/json.ts'

type Marked = Pick<Task, 'metadata'>

export const networkAnnotation = 'svc.ai/network'
export const confinedAnnotation = 'svc.ai/confined'
/** Of the changes of the task before it, only those of these files: a JSON list of paths. */
export const priorPathsAnnotation = 'svc.ai/prior-paths'

/** Whether the code of the task may open connections. */
export function hasNetwork({ metadata }: Marked): boolean {
  return metadata.annotations?.[networkAnnotation] !== 'none'
}

/** Whether it has only the tools that its own spec names, and no memories. */
export function isConfined({ metadata }: Marked): boolean {
  return metadata.annotations?.[confinedAnnotation] === 'true'
}

/** Absent: all of them. */
export function priorPathsOf({ metadata }: Marked): string[] | undefined {
  const paths = metadata.annotations?.[priorPathsAnnotation]
  return paths === undefined ? undefined : (tryParseJson(paths) as string[])
}
