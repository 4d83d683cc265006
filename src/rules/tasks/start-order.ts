// The order in which Pending tasks start: priority, then age, then name (TASK-039).
import type { ObjectMeta } from '../../contract/kinds/resources/metadata.ts'

export type StartRank = { priority: number; createdAt: string; uid: string; name: string }

export function rankTask(task: { metadata: ObjectMeta; spec: { priority?: number } }): StartRank {
  const { creationTimestamp, uid, name } = task.metadata
  return { priority: task.spec.priority ?? 500, createdAt: creationTimestamp, uid, name }
}

// RFC 9562: version 7 UUIDs sort by creation in milliseconds; creationTimestamp has only whole seconds.
function isTimeOrdered(uid: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/i.test(uid)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Negative when `a` starts before `b`. */
export function compareStart(a: StartRank, b: StartRank): number {
  if (a.priority !== b.priority) return b.priority - a.priority
  const byAge = compareText(a.createdAt, b.createdAt)
  if (byAge !== 0) return byAge
  if (isTimeOrdered(a.uid) && isTimeOrdered(b.uid) && a.uid !== b.uid) return compareText(a.uid, b.uid)
  return compareText(a.name, b.name) || compareText(a.uid, b.uid)
}
