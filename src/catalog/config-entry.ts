// One text of a config map, for a resource that refers to it.
import { SvcError } from '../errors.ts'
import type { ConfigMaps } from '../ports/configmaps.ts'
import type { ResourceKey } from '../ports/resources.ts'

/** NotFound, as a sentence for the owner of the resource. */
export async function readConfigEntry(
  configMaps: ConfigMaps,
  key: ResourceKey,
  { entry, owner }: { entry: string; owner: string },
): Promise<string> {
  const found = await configMaps.get(key)
  const where = `config map "${key.name}" in namespace "${key.namespace}"`
  if (found === undefined) throw new SvcError('NotFound', `${where}, named by ${owner}, does not exist; create it`)
  const text = found.data[entry]
  if (text !== undefined) return text
  throw new SvcError('NotFound', `${where} has no text under "${entry}", which ${owner} needs; add it`)
}
