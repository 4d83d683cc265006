// An author must be allowed to read everything a spec refers to; with isolated namespaces it must be in the same one.

import { isDeepStrictEqual } from 'node:util'
import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import { findReferences, listGuardedFields, type Reference } from '../../../contract/schema/reference-paths.ts'
import { SvcError } from '../../../errors.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { findForeignReference } from '../../../rules/identity/isolation.ts'
import { isOwner } from '../../../rules/identity/permission.ts'
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
  { ports, settings }: UsecaseDeps,
): Promise<void> {
  const { caller, namespace, spec, before } = request
  if (!isUseChanged(kind, before, spec)) return
  const foreign = settings.isolateNamespaces ? findForeignReference(kind, namespace, spec) : undefined
  if (foreign !== undefined) throw new SvcError('Forbidden', foreign)
  const callerOf = speakFor(request, kind)
  for (const reference of findReferences(kind, spec)) {
    const { kind: target, name, namespace: named } = reference
    const key = { name, namespace: named ?? namespace }
    await requireAccess(ports, callerOf(reference), { verb: 'get', kind: target, ...key })
    if (target === 'Secret') requireOwnSecret(caller, key, settings.ownerSecret)
  }
}
