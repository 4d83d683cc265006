// One value of a Secret, for a resource that names it.
import { SvcError } from '../errors.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { Secrets } from '../ports/secrets.ts'
import { secretOwnerAnnotation } from '../rules/token-propagation.ts'
import { readAllowedHosts } from '../rules/trusted-address.ts'

/** `owner`: who names it, for the message. */
type Entry = { entry: string; owner: string }

/** The value and the hosts it may be sent to. NotFound in a sentence for whoever owns the resource. */
export async function readEntry(secrets: Secrets, key: ResourceKey, { entry, owner }: Entry) {
  const values = await secrets.read(key)
  const where = `secret "${key.name}" in namespace "${key.namespace}"`
  if (values === undefined) throw new SvcError('NotFound', `${where}, named by ${owner}, does not exist; create it`)
  const value = values[entry]
  if (value === undefined || value === '') {
    throw new SvcError('NotFound', `${where} has no value under "${entry}", which ${owner} needs; add it`)
  }
  const metadata = await secrets.describe(key)
  if (metadata?.annotations[secretOwnerAnnotation] !== undefined) {
    throw new SvcError('InvalidRequest', `${where} is for one task alone; ${owner} needs another one`)
  }
  return { value, allowedHosts: readAllowedHosts(metadata?.annotations) }
}
