// How many children of a coordinator may run at the same time.
import type { Task } from '../../contract/resources/task.ts'
import type { ResourceReader } from '../../ports/resources.ts'
import { parentOf } from '../../rules/family.ts'

/** The coordinator's maxConcurrentChildren; undefined when the parent or its agent no longer exists. */
export async function findSiblingLimit(resources: ResourceReader, child: Task): Promise<number | undefined> {
  const { namespace } = child.metadata
  const owner = parentOf(child)
  const parent = owner && (await resources.get('Task', { namespace, name: owner.name }))
  const reference = parent?.metadata.uid === owner?.uid ? parent?.spec.agentRef : undefined
  if (reference === undefined) return undefined
  const agent = await resources.get('Agent', { namespace: reference.namespace ?? namespace, name: reference.name })
  return agent?.spec.coordination?.maxConcurrentChildren
}
