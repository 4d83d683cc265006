// How records name callers.
import { z } from 'zod'
import { field } from '../../schema/field.ts'

/** How a caller was authenticated: by a token of the service, by the cluster, by an issuer, or as a running task. */
const callerKinds = ['token', 'tokenReview', 'oidc', 'contextToken', 'worker'] as const
/** Sorts of callers that are recorded. */
export type CallerKind = (typeof callerKinds)[number]

/** Kind and id identify a caller; the name is only for people to read. */
export type CallerIdentity = {
  kind: CallerKind
  /**
   * Id of a token, `<issuer>#<subject>` (an issuer has no fragment), the cluster's uid of a user or else its name, or the
   * uid of a task.
   */
  id: string
  name: string
}

/** Kind and id are absent in records from before these fields existed. */
export const RecordedCaller = z
  .object({
    kind: field(z.enum(callerKinds).optional(), 'Sort of caller.'),
    id: field(z.string().optional(), 'Id of the caller, which stays the same when the name changes.', 'token:0192f0c1'),
    name: field(z.string(), 'Name that the caller is known by.', 'ada'),
  })
  .meta({ id: 'RecordedCaller' })
/** A caller as the audit log and usage records store it. */
export type RecordedCaller = { kind?: CallerKind; id?: string; name: string }
