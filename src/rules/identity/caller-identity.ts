// The identity under which records, limits and keys know a caller: what its issuer vouches for, never a display name.
import type { CallerIdentity, CallerKind, RecordedCaller } from '../../contract/api/identity/caller.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'

type VerifiedCaller = {
  authType: Exclude<CallerIdentity['kind'], 'worker'>
  username: string
  uid?: string
  issuer?: string
  subject?: string
  agent?: TaskName
}

type TaskName = { taskUid: string; taskName: string }

/** A running task; all its attempts are the same caller. */
export function identifyTask({ taskUid, taskName }: TaskName): CallerIdentity {
  return { kind: 'worker', id: taskUid, name: `task/${taskName}` }
}

/** A subject is unique within its issuer (OpenID Connect Core 1.0 section 2); an issuer URL has no fragment. */
function nameSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`
}

/** The command line of an agent acts as the agent's task. */
export function identifyCaller(caller: VerifiedCaller): CallerIdentity {
  const { authType: kind, username: name, uid, issuer, subject, agent } = caller
  if (agent !== undefined) return identifyTask(agent)
  const id = issuer !== undefined && subject !== undefined ? nameSubject(issuer, subject) : (uid ?? name)
  return { kind, id, name }
}

/** The key for counting by caller; it includes the kind, because two kinds may have the same id. */
export function callerKey({ kind, id }: CallerIdentity): string {
  return `${kind}:${id}`
}

/** Who created a task; its usage is summed under the creator (USAGE-002). The first annotation holds the name. */
const annotationKeys = { name: 'svc.ai/caller', kind: 'svc.ai/caller-kind', id: 'svc.ai/caller-id' } as const

export const callerAnnotationKeys: readonly string[] = Object.values(annotationKeys)

/** What a task records about its creator. */
export function annotateCaller({ kind, id, name }: CallerIdentity): Record<string, string> {
  return { [annotationKeys.name]: name, [annotationKeys.kind]: kind, [annotationKeys.id]: id }
}

/** Tasks created before the id annotation existed may have a stamp that gives the same fact. */
function readStamp({ requestedBy, transaction }: Task['spec']): Pick<RecordedCaller, 'kind' | 'id'> {
  const { issuer, subject } = requestedBy ?? {}
  if (issuer === undefined || subject === undefined) return {}
  return { kind: transaction === undefined ? 'oidc' : 'contextToken', id: nameSubject(issuer, subject) }
}

/** Who created the task; undefined when it is unknown. */
export function readCaller({ metadata, spec }: Pick<Task, 'metadata' | 'spec'>): RecordedCaller | undefined {
  const { annotations = {} } = metadata
  const name = annotations[annotationKeys.name] ?? spec.requestedBy?.username
  if (name === undefined) return undefined
  const [kind, id] = [annotations[annotationKeys.kind], annotations[annotationKeys.id]]
  return kind === undefined || id === undefined ? { ...readStamp(spec), name } : { kind: kind as CallerKind, id, name }
}
