// Children of a task by owner reference; children of an earlier task with the same name are not included.
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourcePage, ResourceText } from '../../ports/resources/resources.ts'
import type { NamespaceChoice } from '../resources/listing.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** A uid that no task has. */
const nobody = ''

/** Each child as JSON; none when the parent does not exist. */
export async function listChildTasks(
  { ports, resources }: Pick<UsecaseDeps, 'ports'> & { resources: ResourceUsecases },
  caller: Caller,
  parent: string,
  query: NamespaceChoice & { namespace: string },
): Promise<ResourcePage<ResourceText>> {
  const task = await ports.resources.get('Task', { namespace: query.namespace, name: parent })
  const owner = task?.metadata.uid ?? nobody
  return resources.listText(caller, 'Task', { ...query, fields: { ...query.fields, owner } })
}
