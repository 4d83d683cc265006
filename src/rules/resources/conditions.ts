// Lists of conditions: one per type; the transition time stays while the status is the same.
import type { Condition } from '../../contract/kinds/resources/metadata.ts'

export type ConditionChange = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & {
  observedGeneration?: number
}

/** Whole seconds, as in the conditions of Kubernetes. */
export function formatSeconds(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`
}

/** The list with this condition set. */
export function setCondition(conditions: Condition[] | undefined, change: ConditionChange, now: Date): Condition[] {
  const before = conditions?.find((condition) => condition.type === change.type)
  const isSame = before?.status === change.status
  const next: Condition = { ...change, lastTransitionTime: isSame ? before.lastTransitionTime : formatSeconds(now) }
  if (before === undefined) return [...(conditions ?? []), next]
  return (conditions ?? []).map((condition) => (condition.type === change.type ? next : condition))
}

export function findCondition(conditions: Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** The list without conditions of these types. */
export function dropConditions(conditions: Condition[] | undefined, ...types: string[]): Condition[] | undefined {
  return conditions?.filter((condition) => !types.includes(condition.type))
}
