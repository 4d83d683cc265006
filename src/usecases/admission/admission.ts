// What is decided before an object is stored: rights on what it names, and the rules of its kind.
import { isDeepStrictEqual } from 'node:util'
import { findAwaited } from '../../contract/awaited.ts'
import { type Kind, kinds, type ResourceOf, type SpecOf } from '../../contract/resources/index.ts'
import { noWorkspaces, taskProblems } from '../../contract/resources/task-problems.ts'
import { joinPath, refuse } from '../../contract/validation.ts'
import { type Problem, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { isOwner } from '../../rules/permission.ts'
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
  if (isOwner(caller) || key.name !== ownerSecret?.name || key.namespace !== ownerSecret.namespace) return
  throw new SvcError(
    'Forbidden',
    `only the owner of the service may name the secret "${key.namespace}/${key.name}"; use a provider that has it, or a secret of your own`,
  )
}

/** What this service can not do, whoever asks for it; paths are relative to the spec. */
function findImpossible<K extends Kind>(kind: K, spec: SpecOf<K>): Problem[] {
  const settings = kind === 'Task' ? taskProblems(spec as SpecOf<'Task'>, noWorkspaces) : []
  return [...findAwaited(kind, spec), ...settings]
}

/** What was stored before it was refused stays as it is, so that the rest of the object can be changed. */
function refuseImpossible<K extends Kind>(kind: K, { spec, before }: AdmissionRequest<K>): void {
  const stored = before === undefined ? [] : findImpossible(kind, before.spec)
  const added = findImpossible(kind, spec).filter((problem) => !stored.some((old) => isDeepStrictEqual(old, problem)))
  const problems = added.map(({ path, message }) => ({ path: joinPath('spec', path), message }))
  refuse(kinds[kind].singular, problems)
}

/** Forbidden, Conflict or InvalidRequest when the object may not be stored as it is. */
export async function admit<K extends Kind>(
  kind: K,
  request: AdmissionRequest<K>,
  deps: UsecaseDeps,
): Promise<Admitted> {
  refuseImpossible(kind, request)
  for (const { kind: target, name, namespace } of findReferences(kind, request.spec)) {
    const key = { name, namespace: namespace ?? request.namespace }
    await requireAccess(deps.ports, request.caller, { verb: 'get', kind: target, ...key })
    if (target === 'Secret') requireOwnSecret(request.caller, key, deps.settings.ownerSecret)
  }
  await requireContext(kind, request, deps)
  return (rules[kind] as Rule<K>)(request, deps)
}
