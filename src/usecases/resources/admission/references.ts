// An author must be allowed to read everything a spec refers to; with isolated namespaces it must be in the same one.
import { isDeepStrictEqual } from 'node:util'
import { type Kind, kinds, type SpecOf } from '../../../contract/kinds/index.ts'
import { findReferences, listGuardedFields, type Reference } from '../../../contract/schema/reference-paths.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import { readGitAddress } from '../../../contract/values/repository-url.ts'
import { SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import {
  type ForeignNamespace,
  findForeignReference,
  findNamespaceProblems,
  listForeignActors,
  listForeignWorkspaces,
} from '../../../rules/identity/isolation.ts'
import { isOwner } from '../../../rules/identity/permission.ts'
import { findReceiverProblem, type Receiver } from '../../../rules/providers/address.ts'
import { repositoryUrl } from '../../../rules/workspaces/git-workspace.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest } from './request.ts'

/**
 * Whoever names a Secret decides where it goes (a provider's address, a command). Only the owner may decide that for
 * the machine's own keys.
 */
function requireOwnSecret(caller: Caller, key: ResourceKey, ownerSecret: ResourceKey | undefined): void {
  if (isOwner(caller) || key.name !== ownerSecret?.name || key.namespace !== ownerSecret.namespace) return
  throw new SvcError(
    'Forbidden',
    `only the owner of the service may name the secret "${key.namespace}/${key.name}"; use a provider that has it, or a secret of your own`,
  )
}

/** Forbidden when the caller may not read the Secret, or not decide where it goes. */
export async function requireSecret(caller: Caller, key: ResourceKey, { ports, settings }: UsecaseDeps): Promise<void> {
  await requireAccess(ports, caller, { verb: 'get', kind: 'Secret', ...key })
  requireOwnSecret(caller, key, settings.ownerSecret)
}

/** Whether a reference, or its destination, can have changed; an old reference does not prevent changing a label. */
export function isUseChanged<K extends Kind>(
  kind: K,
  before: { spec: SpecOf<K> } | undefined,
  spec: SpecOf<K>,
): boolean {
  if (before === undefined) return true
  return listGuardedFields(kind).some((field) => {
    const [old, now] = [before.spec, spec].map((from) => (from as Record<string, unknown>)[field])
    return !isDeepStrictEqual(old, now)
  })
}

/** A model may name no Secret, but may leave one in place that a person named there. */
function speakFor<K extends Kind>({ caller, before }: AdmissionRequest<K>, kind: K): (reference: Reference) => Caller {
  const named = caller.isModel && before !== undefined ? findReferences(kind, before.spec) : []
  return (reference) =>
    named.some((old) => isDeepStrictEqual(old, reference)) ? { ...caller, isModel: false } : caller
}

/** Forbidden when the caller may not read a referenced object, or it is in a namespace that is out of reach. */
export async function requireReferences<K extends Kind>(
  kind: K,
  request: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<void> {
  const { ports, settings } = deps
  const { namespace, spec, before } = request
  if (!isUseChanged(kind, before, spec)) return
  const foreign = settings.isolateNamespaces ? findForeignReference(kind, namespace, spec) : undefined
  if (foreign !== undefined) throw new SvcError('Forbidden', foreign)
  const callerOf = speakFor(request, kind)
  for (const reference of findReferences(kind, spec)) {
    const { kind: target, name, namespace: named } = reference
    const key = { name, namespace: named ?? namespace }
    const by = callerOf(reference)
    if (target === 'Secret') await requireSecret(by, key, deps)
    else await requireAccess(ports, by, { verb: 'get', kind: target, ...key })
  }
}

const receivers: { [K in Kind]?: (spec: SpecOf<K>, field: string) => Receiver } = {
  Task: (spec, field) => (field.endsWith('.gitSecretRef') ? (repositoryUrl(spec) ?? 'code') : 'code'),
  // The keys of a runtime are for the vendor's own address.
  Agent: ({ runtime }) => (runtime === undefined ? 'code' : 'vendor'),
  Provider: ({ baseURL }) => (baseURL === undefined ? 'vendor' : (URL.parse(baseURL) ?? 'code')),
  RepositoryMonitor: ({ repoURL }) => readGitAddress(repoURL) ?? 'code',
  Tool: ({ http }) => URL.parse(http?.url ?? '') ?? 'code',
}

/** Forbidden when the spec would send a Secret somewhere it may not go. */
export async function requireAllowedHosts<K extends Kind>(
  kind: K,
  { namespace, spec, before }: AdmissionRequest<K>,
  { ports }: UsecaseDeps,
): Promise<void> {
  const receiverOf = receivers[kind] as ((spec: SpecOf<K>, field: string) => Receiver) | undefined
  if (receiverOf === undefined || !isUseChanged(kind, before, spec)) return
  for (const reference of findReferences(kind, spec)) {
    if (reference.kind !== 'Secret') continue
    const receiver = receiverOf(spec, reference.field)
    const key = { name: reference.name, namespace: reference.namespace ?? namespace }
    const annotations = (await ports.secrets.describe(key))?.annotations
    const problem = findReceiverProblem({ ...key, annotations }, receiver)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
  }
}

function listForeign<K extends Kind>(
  kind: K,
  namespace: string,
  spec: SpecOf<K>,
  deps: UsecaseDeps,
): ForeignNamespace[] {
  if (kind === 'Task') return listForeignWorkspaces(namespace, spec as SpecOf<'Task'>, deps.settings.workspaces)
  if (kind !== 'Tool') return []
  return listForeignActors(namespace, spec as SpecOf<'Tool'>, deps.ports.toolActors?.templateNamespace)
}

/** InvalidRequest for one that cannot be used from here; Forbidden for one that the caller may not use. */
export async function requireForeignNamespaces<K extends Kind>(
  kind: K,
  { caller, namespace, spec, before }: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<void> {
  const foreign = listForeign(kind, namespace, spec, deps)
  if (before !== undefined && isDeepStrictEqual(listForeign(kind, namespace, before.spec, deps), foreign)) return
  const isolated = deps.settings.isolateNamespaces ?? false
  const problems = findNamespaceProblems({ kind, namespace }, foreign, isolated)
  refuse(
    kinds[kind].singular,
    problems.map(({ path, message }) => ({ path: `spec.${path}`, message })),
  )
  for (const reference of foreign)
    await requireAccess(deps.ports, caller, { verb: 'create', kind, namespace: reference.namespace })
}
