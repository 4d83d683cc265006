// Lists of every kind as far as a caller may see them, and what is said of a name that stands in none.
import { wordsOfKind } from '../../contract/api/identity/access.ts'
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { findNearest } from '../../lib/nearest.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey, ResourcePage, ResourceQuery } from '../../ports/resources/resources.ts'
import { keepAllowed, requireListing, seesSome } from '../identity/access.ts'

/** A list's query; where no namespace is named it is of all that the caller may list. */
export type NamespaceChoice = Omit<ResourceQuery, 'namespace' | 'namespaces'> & { namespace: string | undefined }

type ListPorts = Pick<Ports, 'resources' | 'authorizer'>

/** Names that a guess is made from: as many as a page that anybody may ask for. */
export const maxGuessed = 100

/** The query as the store is asked, with what the caller may see of it. */
export async function queryFor(
  ports: ListPorts,
  caller: Caller,
  kind: Kind,
  { namespace, ...query }: NamespaceChoice,
): Promise<ResourceQuery> {
  const storedIn = () => ports.resources.namespacesOf(kind)
  return { ...query, ...(await requireListing(ports, caller, kind, { namespace, storedIn })) }
}

export async function listAllowed<K extends Kind>(
  ports: ListPorts,
  caller: Caller,
  kind: K,
  query: NamespaceChoice,
): Promise<ResourcePage<ResourceOf<K>>> {
  const page = await ports.resources.list(kind, await queryFor(ports, caller, kind, query))
  if (!seesSome(caller, kind)) return page
  const read = ({ metadata: { namespace, name } }: ResourceOf<K>) => ({ verb: 'list', kind, namespace, name }) as const
  // How many more the caller may see is not known.
  const { remainingItemCount: _uncounted, ...shown } = page
  return { ...shown, items: await keepAllowed(ports, caller, { of: page.items, read }) }
}

/** NotFound, with the name that may be meant; `listNames`: of those that the caller may list. */
export async function explainAbsent(
  what: string,
  { name, namespace }: ResourceKey,
  listNames: () => Promise<readonly string[]> = async () => [],
): Promise<SvcError> {
  const names = await listNames().catch((error: unknown) => {
    if (!isSvcError(error, 'Forbidden')) throw error
    return []
  })
  const nearest = findNearest(name, names)
  const guess = nearest === undefined ? '' : `; did you mean ${nearest}?`
  return new SvcError('NotFound', `${what} not found: "${name}" in namespace "${namespace}"${guess}`)
}

/** The first names of the namespace. */
export async function listNames(ports: ListPorts, caller: Caller, kind: Kind, namespace: string): Promise<string[]> {
  const { items } = await listAllowed(ports, caller, kind, { namespace, limit: maxGuessed })
  return items.map(({ metadata }) => metadata.name)
}

/** NotFound, worded the same for every kind. */
export async function notFound(ports: ListPorts, caller: Caller, kind: Kind, key: ResourceKey): Promise<SvcError> {
  return explainAbsent(wordsOfKind(kind), key, () => listNames(ports, caller, kind, key.namespace))
}
