// One text of a config map, a Secret, or one value of a Secret, for a resource that refers to it.
import { SvcError } from '../errors.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { secretOwnerAnnotation } from '../rules/identity/token-propagation.ts'
import { findReceiverProblem, readAllowedHosts } from '../rules/providers/address.ts'

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

/**
 * `owner`: who refers to it, for the message. `forCode`: the code of a task receives it, whose connections nobody
 * checks.
 */
type Reading = { owner: string; forCode?: true }
type Entry = Reading & { entry: string }

/** Every entry. NotFound or InvalidRequest, as a sentence for the owner of the resource. */
export async function readSecret(secrets: Secrets, key: ResourceKey, { owner, forCode }: Reading) {
  const values = await secrets.read(key)
  const where = `secret "${key.name}" in namespace "${key.namespace}"`
  if (values === undefined) throw new SvcError('NotFound', `${where}, named by ${owner}, does not exist; create it`)
  const annotations = (await secrets.describe(key))?.annotations
  if (annotations?.[secretOwnerAnnotation] !== undefined) {
    throw new SvcError('InvalidRequest', `${where} belongs to a single task; ${owner} needs another one`)
  }
  const problem = forCode && findReceiverProblem({ ...key, annotations }, 'code')
  if (problem !== undefined) throw new SvcError('InvalidRequest', `${problem}; ${owner} needs another one`)
  return { values, allowedHosts: readAllowedHosts(annotations), where }
}

/**
 * The value and the hosts it may be sent to. NotFound or InvalidRequest, as a sentence for the owner of the resource.
 */
export async function readEntry(secrets: Secrets, key: ResourceKey, { entry, ...reading }: Entry) {
  const missing = secrets.explainMissing?.(key, { entry, owner: reading.owner })
  if (missing !== undefined && !(await secrets.read(key))?.[entry]) throw new SvcError('NotFound', missing)
  const { values, allowedHosts, where } = await readSecret(secrets, key, reading)
  const value = values[entry]
  if (value === undefined || value === '') {
    throw new SvcError('NotFound', `${where} has no value under "${entry}", which ${reading.owner} needs; add it`)
  }
  return { value, allowedHosts }
}
