// What is decided before an object is stored: rights on what it names, and the rules of its kind.
import type { Kind, ResourceOf, SpecOf } from '../../contract/resources/index.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { requireAccess } from '../access.ts'
import type { UsecaseDeps } from '../deps.ts'
import { requireContext } from './context.ts'
import { admitProvider } from './provider.ts'
import { findReferences } from './references.ts'
import { admitTask } from './task.ts'
import { admitTool } from './tool.ts'

export type AdmissionRequest<K extends Kind> = {
  caller: Caller
  namespace: string
  name: string
  spec: SpecOf<K>
  /** As given. */
  labels?: Readonly<Record<string, string>> | undefined
  /** Present on an update: the object as stored. */
  before?: ResourceOf<K>
}

/** What the service itself puts into the object. */
export type Admitted = {
  finalizers?: string[]
  /** In the place of what was given. */
  labels?: Record<string, string>
  /** Fields of the spec that are the service's; undefined leaves one out. */
  spec?: Record<string, unknown>
  /** Annotations of the service's own domain; undefined removes one. */
  annotations?: Record<string, string | undefined>
}

type Rule<K extends Kind> = (request: AdmissionRequest<K>, deps: UsecaseDeps) => Admitted

const admitAnything: Rule<Kind> = () => ({})

const rules: { [K in Kind]: Rule<K> } = {
  Task: admitTask,
  Agent: admitAnything,
  Provider: admitProvider,
  Tool: admitTool,
  Skill: admitAnything,
  RepositoryScan: admitAnything,
  RepositoryMonitor: admitAnything,
}

/** Whoever names a Secret says where it goes (a provider's address, a command): that decision on the machine's own keys is the owner's. */
function requireOwnSecret(caller: Caller, key: ResourceKey, ownerSecret: ResourceKey | undefined): void {
  if (caller.isOwner || key.name !== ownerSecret?.name || key.namespace !== ownerSecret.namespace) return
  throw new SvcError(
    'Forbidden',
    `only the owner of the service may name the secret "${key.namespace}/${key.name}"; use a provider that has it, or a secret of your own`,
  )
}

/** Forbidden, Conflict or InvalidRequest when the object may not be stored as it is. */
export async function admit<K extends Kind>(
  kind: K,
  request: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<Admitted> {
  for (const { kind: target, name, namespace } of findReferences(kind, request.spec)) {
    const key = { name, namespace: namespace ?? request.namespace }
    await requireAccess(deps.ports, request.caller, { verb: 'get', kind: target, ...key })
    if (target === 'Secret') requireOwnSecret(request.caller, key, deps.settings.ownerSecret)
  }
  await requireContext(kind, request, deps)
  return (rules[kind] as Rule<K>)(request, deps)
}
