// The tasks that a task descends from.
import type { Task } from '../contract/kinds/tasks/task.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import { agentKeyOf } from '../rules/tasks/acting.ts'
import { parentAnnotation } from '../rules/tasks/schedule.ts'
import { parentOf } from '../rules/tasks/stamp.ts'
import type { Lineage } from '../rules/workspaces/network.ts'

type Reader = Pick<ResourceReader, 'get'>

/** More levels than tasks can have. */
const maxLevels = 16

/** Undefined for one that is gone, after asking the source: what is known may be behind. */
async function findOwner(resources: Reader, { metadata: { namespace } }: Task, owner: { uid: string; name: string }) {
  const key = { namespace, name: owner.name }
  const known = await resources.get('Task', key)
  const found = known?.metadata.uid === owner.uid ? known : await resources.get('Task', key, { latest: true })
  return found?.metadata.uid === owner.uid ? found : undefined
}

/** Its parent first; the last one is undefined where a task is gone that one of them names. */
export async function listAncestors(resources: Reader, task: Task): Promise<(Task | undefined)[]> {
  const ancestors: (Task | undefined)[] = []
  for (let next: Task | undefined = task; next !== undefined && ancestors.length < maxLevels; ) {
    const owner = parentOf(next)
    const wasMade: boolean = owner !== undefined || next.metadata.annotations?.[parentAnnotation] !== undefined
    if (!wasMade) break
    // Who made it is not to be known where its owner was taken away.
    next = owner && (await findOwner(resources, next, owner))
    ancestors.push(next)
  }
  return ancestors
}

async function findAgent(resources: Reader, task: Task) {
  const key = agentKeyOf(task)
  return key && (await resources.get('Agent', key))
}

/** As `listAncestors`, with their agents as they are now. */
export async function findAbove(resources: Reader, task: Task): Promise<Lineage['ancestors']> {
  const found = await listAncestors(resources, task)
  return Promise.all(found.map(async (one) => one && { task: one, agent: await findAgent(resources, one) }))
}

/** With the agents as they are now. */
export async function findLineage(resources: Reader, task: Task): Promise<Lineage> {
  const [agent, ancestors] = await Promise.all([findAgent(resources, task), findAbove(resources, task)])
  return { task, agent, ancestors }
}
