// Where a task is.
export type TaskPlace = { namespace: string; name: string }

/** The input of a route about the task. */
export function targetOf({ namespace, name }: TaskPlace) {
  return { params: { id: name }, query: { namespace } }
}

export function taskPath({ namespace, name }: TaskPlace): string {
  return `/tasks/${namespace}/${name}`
}
