// Templates and pools of other namespaces, of which execution workspaces and actors are made: an author must be allowed to make
// there what names them; where namespaces are isolated nobody is.
import { isDeepStrictEqual } from 'node:util'
import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import { kinds } from '../../../contract/kinds/index.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import {
  type ForeignPlace,
  findPlaceProblems,
  listForeignActors,
  listForeignWorkspaces,
} from '../../../rules/identity/isolation.ts'
import { requireAccess } from '../../identity/access.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest } from './request.ts'

function listPlaces<K extends Kind>(kind: K, namespace: string, spec: SpecOf<K>, deps: UsecaseDeps): ForeignPlace[] {
  if (kind === 'Task') return listForeignWorkspaces(namespace, spec as SpecOf<'Task'>, deps.settings.workspaces)
  if (kind !== 'Tool') return []
  return listForeignActors(namespace, spec as SpecOf<'Tool'>, deps.ports.toolActors?.templateNamespace)
}

/** InvalidRequest for one that cannot be used from here; Forbidden for one that the caller may not use. */
export async function requirePlaces<K extends Kind>(
  kind: K,
  { caller, namespace, spec, before }: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<void> {
  const places = listPlaces(kind, namespace, spec, deps)
  if (before !== undefined && isDeepStrictEqual(listPlaces(kind, namespace, before.spec, deps), places)) return
  const isolated = deps.settings.isolateNamespaces ?? false
  const problems = findPlaceProblems({ kind, namespace }, places, isolated)
  refuse(
    kinds[kind].singular,
    problems.map(({ path, message }) => ({ path: `spec.${path}`, message })),
  )
  for (const place of places)
    await requireAccess(deps.ports, caller, { verb: 'create', kind, namespace: place.namespace })
}
