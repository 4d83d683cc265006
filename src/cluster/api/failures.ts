// Refusals of the API server as errors of the service: which reason, what is wrong, what to do.
import { type ErrorReason, ignoring, isSvcError, messageOf, type Problem, SvcError } from '../../errors.ts'
import { causeCodeOf } from '../../lib/error-code.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'

/** The `Status` object that every refusal carries (meta/v1). */
export type ApiStatus = {
  message?: string
  reason?: string
  code?: number
  details?: {
    name?: string
    kind?: string
    uid?: string
    causes?: { reason?: string; message?: string; field?: string }[]
    retryAfterSeconds?: number
  }
}

const reasons: Record<number, ErrorReason> = {
  400: 'InvalidRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  422: 'InvalidRequest',
}

/** The body of a refusal; plain text becomes its message. */
export function parseStatus(text: string, code: number): ApiStatus {
  const status = tryParseJson(text)
  if (isJsonObject(status)) return { code, ...status }
  // Proxies and the server's own filters answer in plain text.
  return { code, message: text.trim().slice(0, 500) }
}

function listProblems(status: ApiStatus): Problem[] {
  return (status.details?.causes ?? []).map(({ field, message }) => ({
    path: field === undefined || field === '<nil>' ? '' : field,
    message: message ?? 'is not valid',
  }))
}

/** A collection that the server does not know has no object to name in the details. */
function isUnknownCollection(status: ApiStatus): boolean {
  return status.code === 404 && status.details?.name === undefined
}

function isAccountRefusal(message: string): boolean {
  return /cannot \w+ resource/.test(message)
}

type Judgement = { reason: ErrorReason; advice?: string }

function judgeServerFault(message: string): Judgement {
  // etcd's own limit, which some versions pass on as an internal error.
  if (/request is too large|trying to send message larger/.test(message)) return { reason: 'TooLarge' }
  return { reason: 'Unavailable', advice: 'the Kubernetes API server cannot answer now; try again later' }
}

function judge(status: ApiStatus, message: string): Judgement {
  const code = status.code ?? 500
  if (code === 401) {
    return {
      reason: 'Unavailable',
      advice: "the API server refused the service's own credential: check its service account or kubeconfig",
    }
  }
  if (isUnknownCollection(status)) {
    return { reason: 'NotConfigured', advice: 'the cluster does not know this kind: kubectl apply -f deploy/crds' }
  }
  if (code === 403 && isAccountRefusal(message)) {
    return { reason: 'Forbidden', advice: "the service's own account lacks this right: grant it in its ClusterRole" }
  }
  if (code === 409 && status.reason === 'AlreadyExists') return { reason: 'AlreadyExists' }
  if (code === 429 || code >= 500) return judgeServerFault(message)
  return { reason: reasons[code] ?? 'UpstreamFailed' }
}

/** The error for a refusal of the API server. */
export function describeFailure(status: ApiStatus): SvcError {
  const message = status.message ?? `the API server answered ${status.code ?? 'with an error'}`
  const { reason, advice } = judge(status, message)
  const details = reason === 'InvalidRequest' ? listProblems(status) : []
  const retryAfterSeconds = reason === 'Unavailable' ? (status.details?.retryAfterSeconds ?? 1) : undefined
  return new SvcError(reason, advice === undefined ? message : `${advice} (${message})`, {
    ...(details.length > 0 && { details }),
    retryAfterSeconds,
  })
}

/** The error for a connection that failed. */
export function describeUnreachable(error: unknown): SvcError {
  const cause = causeCodeOf(error) || messageOf(error)
  return new SvcError('Unavailable', `the Kubernetes API server cannot be reached (${cause}); try again later`, {
    retryAfterSeconds: 1,
    cause: error,
  })
}

/** The answer; undefined when the object does not exist. */
export async function orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  return ignoring(answer, 'NotFound')
}

/** Whether the object was created; false when one of its name exists. */
export async function unlessExists(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation
    return true
  } catch (error) {
    if (isSvcError(error, 'AlreadyExists')) return false
    throw error
  }
}

/** Of a deletion with preconditions: the object is gone, or another one has its name by now. */
export async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  await ignoring(deletion, 'NotFound', 'Conflict')
}
