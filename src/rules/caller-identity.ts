// Who a caller is to records, limits and keys: by what its issuer vouches for, never by the name it goes by.
import type { CallerIdentity } from '../contract/api/caller.ts'

type VerifiedCaller = {
  authType: Exclude<CallerIdentity['kind'], 'worker'>
  username: string
  uid?: string
  issuer?: string
  subject?: string
  agent?: TaskName
}

type TaskName = { taskUid: string; taskName: string }

/** A task at work, whichever of its attempts. */
function identifyTask({ taskUid, taskName }: TaskName): CallerIdentity {
  return { kind: 'worker', id: taskUid, name: `task/${taskName}` }
}

/** A subject is unique within its issuer (OpenID Connect Core 1.0 section 2), and an issuer has no fragment. */
function nameSubject(issuer: string, subject: string): string {
  return `${issuer}#${subject}`
}

/** The command line of an agent acts as its task. */
export function identifyCaller(caller: VerifiedCaller): CallerIdentity {
  const { authType: kind, username: name, uid, issuer, subject, agent } = caller
  if (agent !== undefined) return identifyTask(agent)
  const id = issuer !== undefined && subject !== undefined ? nameSubject(issuer, subject) : (uid ?? name)
  return { kind, id, name }
}

/** One text for what counts by caller: two kinds may have the same id. */
export function callerKey({ kind, id }: CallerIdentity): string {
  return `${kind}:${id}`
}
