// Children of a task, as its owner references tell them: those of a task that had its name before are not among them.
import type { Caller } from '../../ports/identity.ts'
import type { ResourcePage, ResourceText } from '../../ports/resources.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { PlacedQuery, ResourceUsecases } from '../resources.ts'

/** No task has it. */
const nobody = ''

/** Each child as JSON; none of a parent that is not there. */
export async function listChildren(
  { ports, resources }: Pick<UsecaseDeps, 'ports'> & { resources: ResourceUsecases },
  caller: Caller,
  parent: string,
  query: PlacedQuery & { namespace: string },
): Promise<ResourcePage<ResourceText>> {
  const task = await ports.resources.get('Task', { namespace: query.namespace, name: parent })
  const owner = task?.metadata.uid ?? nobody
  return resources.listText(caller, 'Task', { ...query, fields: { ...query.fields, owner } })
}
