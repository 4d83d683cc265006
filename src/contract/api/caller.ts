// Who it was, as records name callers.

import { z } from 'zod'
import { field } from '../field.ts'

/** How a caller is known: by a token of the service, by the cluster's review, by an issuer, or as a task at work. */
const callerKinds = ['token', 'tokenReview', 'oidc', 'contextToken', 'worker'] as const
/** Sorts of callers that are recorded. */
export type CallerKind = (typeof callerKinds)[number]

/** Callers are told apart by kind and id; the name is what they go by, for people to read, and decides nothing. */
export type CallerIdentity = {
  kind: CallerKind
  /**
   * Id of a token, `<issuer>#<subject>` (an issuer has no fragment), the cluster's uid of a user or else its name, or the
   * uid of a task.
   */
  id: string
  name: string
}

/** Kind or id are absent in what was recorded before records had them. */
export const RecordedCaller = z
  .object({
    kind: field(z.enum(callerKinds).optional(), 'Sort of caller.'),
    id: field(z.string().optional(), 'Id of the caller, which stays the same when the name changes.', 'token:0192f0c1'),
    name: field(z.string(), 'Name that the caller is known by.', 'ada'),
  })
  .meta({ id: 'RecordedCaller' })
/** A caller as audit log and usage keep it. */
export type RecordedCaller = { kind?: CallerKind; id?: string; name: string }
