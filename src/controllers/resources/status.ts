// Writes the status of catalog objects, only when it differs, so that a check that finds nothing new costs nothing.
import type { Kind, ResourceOf, StatusOf } from '../../contract/kinds/index.ts'
import type { Condition } from '../../contract/kinds/resources/metadata.ts'
import { sortKeys } from '../../lib/json.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import { type ConditionChange, setCondition } from '../../rules/resources/conditions.ts'

export async function writeResourceStatus<K extends Kind>(
  resources: Resources,
  kind: K,
  object: ResourceOf<K>,
  status: StatusOf<K>,
): Promise<void> {
  const clean = JSON.parse(JSON.stringify({ ...status, observedGeneration: object.metadata.generation }))
  if (JSON.stringify(clean, sortKeys) === JSON.stringify(object.status ?? {}, sortKeys)) return
  await resources.updateStatus(kind, { ...object, status: clean })
}

/** The Ready condition: True without a problem. */
export function setReady(
  conditions: Condition[] | undefined,
  outcome: { problem: string | undefined; good: string; reasons: [good: string, bad: string] },
  now: Date,
): Condition[] {
  const { problem, good, reasons } = outcome
  const change: ConditionChange =
    problem === undefined
      ? { type: 'Ready', status: 'True', reason: reasons[0], message: good }
      : { type: 'Ready', status: 'False', reason: reasons[1], message: problem }
  return setCondition(conditions, change, now)
}
