// What is decided before an object is stored: rights on what it names, and the rules of its kind.
import type { Kind, ResourceOf, SpecOf } from '../../contract/resources/index.ts'
import type { Caller } from '../../ports/identity.ts'
import { requireAccess } from '../access.ts'
import type { UsecaseDeps } from '../deps.ts'
import { admitProvider } from './provider.ts'
import { findReferences } from './references.ts'
import { admitTask } from './task.ts'
import { admitTool } from './tool.ts'

export type AdmissionRequest<K extends Kind> = {
  caller: Caller
  namespace: string
  name: string
  spec: SpecOf<K>
  /** Present on an update: the object as stored. */
  before?: ResourceOf<K>
}

/** What the service itself puts into the metadata. */
export type Admitted = {
  finalizers?: string[]
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

/** Forbidden, Conflict or InvalidRequest when the object may not be stored as it is. */
export function admit<K extends Kind>(kind: K, request: AdmissionRequest<K>, deps: UsecaseDeps): Admitted {
  for (const { kind: target, name, namespace } of findReferences(kind, request.spec)) {
    requireAccess(request.caller, { verb: 'get', kind: target, name, namespace: namespace ?? request.namespace })
  }
  return (rules[kind] as Rule<K>)(request, deps)
}
