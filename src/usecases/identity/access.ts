// The authorization decision as a guard: it passes, or throws Forbidden with the reason.
import type { Access, AccessKind, Decision } from '../../contract/api/identity/access.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { isFiltered } from '../../rules/identity/context-token.ts'
import { authorize, resolveNamespace } from '../../rules/identity/permission.ts'

function requireAllowed(decision: Decision): void {
  if (!decision.allowed) throw new SvcError('Forbidden', decision.reason)
}

/** Whether `requireRight` passes. */
export function hasRight(caller: Caller, access: Access): boolean {
  return authorize(caller, access).allowed
}

/** Refuses what the caller's token allows nowhere, without asking the authorizer. */
export function requireRight(caller: Caller, access: Access): void {
  requireAllowed(authorize(caller, access))
}

/** Forbidden when the rules of the service or those of the cluster do not allow it. */
export async function requireAccess(
  { authorizer }: Pick<Ports, 'authorizer'>,
  caller: Caller,
  access: Access,
): Promise<void> {
  requireRight(caller, access)
  if (authorizer !== undefined) requireAllowed(await authorizer.authorize(caller, access))
}

/** Whether `requireAccess` passes. */
export async function mayAccess(ports: Pick<Ports, 'authorizer'>, caller: Caller, access: Access): Promise<boolean> {
  try {
    await requireAccess(ports, caller, access)
    return true
  } catch (error) {
    if (isSvcError(error, 'Forbidden')) return false
    throw error
  }
}

/** Where a list looks: in one namespace, in some, or (neither is there) everywhere. */
export type ListScope = { namespace?: string; namespaces?: readonly string[] }

/** Namespaces asked about at the same time. */
const questionsAtOnce = 16

async function keepListable(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  kind: AccessKind,
  namespaces: readonly string[],
): Promise<string[]> {
  const allowed: string[] = []
  for (let start = 0; start < namespaces.length; start += questionsAtOnce) {
    const some = namespaces.slice(start, start + questionsAtOnce)
    const read = (namespace: string): Access => ({ verb: 'list', kind, namespace })
    allowed.push(...(await keepAllowed(ports, caller, { of: some, read })))
  }
  return allowed
}

/**
 * Where the caller may list the kind. Forbidden for a namespace that it names and may not list; without one, those that
 * it may not are left out. `storedIn` lists those with objects; it is called only where not all of them are allowed.
 */
export async function requireListing(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  kind: AccessKind,
  {
    namespace = caller.boundNamespace,
    storedIn,
  }: { namespace?: string | undefined; storedIn: () => Promise<string[]> },
): Promise<ListScope> {
  if (namespace !== undefined) {
    await requireAccess(ports, caller, { verb: 'list', kind, namespace })
    return { namespace }
  }
  const everywhere = { verb: 'list', kind } as const
  requireRight(caller, everywhere)
  if (await mayAccess(ports, caller, { ...everywhere, entry: true })) return {}
  return { namespaces: await keepListable(ports, caller, kind, await storedIn()) }
}

type WholeList<T> = { namespace: string | undefined; read: (namespace?: string) => Promise<T[]> }

/** What the caller may list of what is read whole. */
export async function listWhole<T extends { namespace: string }>(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  kind: AccessKind,
  { namespace: named, read }: WholeList<T>,
): Promise<T[]> {
  const storedIn = async () => [...new Set((await read()).map((one) => one.namespace))]
  const { namespace, namespaces } = await requireListing(ports, caller, kind, { namespace: named, storedIn })
  const all = await read(namespace)
  return namespaces === undefined ? all : all.filter((one) => namespaces.includes(one.namespace))
}

/** The entries of a list for which `mayAccess` passes, in order. */
export async function keepAllowed<T>(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { of, read }: { of: readonly T[]; read: (one: T) => Access },
): Promise<T[]> {
  const rights = await Promise.all(of.map((one) => mayAccess(ports, caller, { ...read(one), entry: true })))
  return of.filter((_one, at) => rights[at])
}

/**
 * Whether lists of the kind may show this caller some objects and hide others. Roles and RBAC allow or refuse a whole
 * list; a context token may allow individual names.
 */
export function seesSome({ authType }: Caller, kind: AccessKind): boolean {
  return authType === 'contextToken' && isFiltered(kind)
}

/** The namespace a request acts in. */
export function callerNamespace(caller: Caller, named: string | undefined): string {
  return resolveNamespace(caller, named)
}
