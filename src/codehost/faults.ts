// What a failed call means (https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api and
// .../rate-limits-for-the-rest-api).
import { isSvcError, messageOf, SvcError } from '../errors.ts'
import { CodeHostError, type CodeHostFault } from '../ports/codehost/code-host.ts'

type Headers = Record<string, string | number | undefined>
type Refusal = { status: number; message: string; headers: Headers }
type Request = { host: string; login: boolean; timedOut: boolean }

export function isMove(status: number): boolean {
  return [301, 302, 307, 308].includes(status)
}

type FailedRequest = { status?: number; message?: string; response?: { headers: Headers; data?: unknown } }

/** One of `errors`: a text, or an object in which `field` and `code` stand for a message that is not there. */
function describeOne(error: unknown): string {
  if (typeof error === 'string') return error
  const { message, field, code } = (error ?? {}) as { message?: string; field?: string; code?: string }
  return message ?? [field, code].filter((word) => word !== undefined).join(' ')
}

/** The words of the code host, which are in the answer's `message` and `errors`. */
function wordsOf(data: unknown): string {
  const { message = '', errors = [] } = (data ?? {}) as { message?: string; errors?: unknown }
  const list = Array.isArray(errors) ? errors : [errors]
  return [message, ...list.map(describeOne)]
    .filter((word) => word !== '')
    .join(': ')
    .slice(0, 300)
}

/** Seconds that are waited for when the code host does not say: it asks for a minute at least. */
const defaultWaitSeconds = 60

/** When calls may go on, in milliseconds; undefined: they are not limited. */
export function readLimit({ status, message, headers }: Refusal, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined
  const retryAfter = Number(headers['retry-after'])
  if (Number.isFinite(retryAfter)) return now + Math.max(1, retryAfter) * 1000
  if (String(headers['x-ratelimit-remaining']) === '0') {
    const reset = Number(headers['x-ratelimit-reset']) * 1000
    return Number.isFinite(reset) ? Math.max(reset, now + 1000) : now + defaultWaitSeconds * 1000
  }
  return status === 429 || /rate limit|abuse detection/i.test(message) ? now + defaultWaitSeconds * 1000 : undefined
}

export function rateLimited(host: string, until: number): CodeHostError {
  const heldUpUntil = new Date(until).toISOString()
  return new CodeHostError('HeldUp', `Held up until ${heldUpUntil}: ${host} limits how often this login may call it`, {
    heldUpUntil,
  })
}

/** What a token of the older kind needs. */
function scopesOf(headers: Headers): string {
  const scopes = headers['x-accepted-oauth-scopes'] ?? ''
  return scopes === '' ? '' : `one of the scopes ${scopes}`
}

function explainForbidden({ message, headers }: Refusal, { host, login }: Request): CodeHostError {
  if (/archived/i.test(message)) {
    return new CodeHostError(
      'Archived',
      'the repository is archived: nothing can be written to it until somebody unarchives it',
    )
  }
  if (!login) return new CodeHostError('LoginRefused', `${host} needs a login for this: name a Secret with a token`)
  const granted = headers['x-accepted-github-permissions']
  const right = granted === undefined ? undefined : String(granted)
  const needs = right === undefined ? scopesOf(headers) : right
  const which = needs === '' ? '' : `; it needs ${needs}`
  return new CodeHostError('MissingRight', `the login may not do this on ${host} (${message})${which}`, { right })
}

function explainMissing({ headers }: Refusal, { host, login }: Request): CodeHostError {
  const scopes = scopesOf(headers)
  const needs = scopes === '' ? '' : `, which needs ${scopes}`
  const who = login ? `this login may see${needs}` : 'anybody may see; without a login only public repositories are'
  return new CodeHostError('NotFound', `${host} has no such thing, or none that ${who}`)
}

const plainFaults: Record<number, CodeHostFault> = {
  405: 'Conflict',
  406: 'TooLarge',
  409: 'Conflict',
  410: 'NotFound',
  413: 'TooLarge',
  422: 'Invalid',
  451: 'NotFound',
}
const plainWords: Record<number, string> = { 451: 'it is withheld for legal reasons' }

function explainRefusal(refusal: Refusal, request: Request): CodeHostError {
  const { status, message } = refusal
  const until = readLimit(refusal, Date.now())
  if (until !== undefined) return rateLimited(request.host, until)
  if (status === 401) {
    return new CodeHostError(
      'LoginRefused',
      `${request.host} refuses the login: the token is wrong, has expired or was taken back`,
    )
  }
  if (status === 403) return explainForbidden(refusal, request)
  if (status === 404) return explainMissing(refusal, request)
  const fault = plainFaults[status] ?? (status >= 500 ? 'Unreachable' : 'Invalid')
  const words = [message, plainWords[status]].filter((part) => part !== '' && part !== undefined)
  return new CodeHostError(fault, `${request.host} answered ${[status, ...words].join(': ')}`)
}

export type GraphqlError = { type?: string; message: string }

const graphqlFaults: Record<string, CodeHostFault> = { NOT_FOUND: 'NotFound', FORBIDDEN: 'MissingRight' }

/** Refusals of GraphQL come with 200. */
export function explainGraphql(host: string, errors: readonly GraphqlError[]): CodeHostError {
  if (errors.some(({ type }) => type === 'RATE_LIMITED'))
    return rateLimited(host, Date.now() + defaultWaitSeconds * 1000)
  const fault = errors.map(({ type }) => graphqlFaults[type ?? '']).find((known) => known !== undefined)
  const words = errors.map(({ message }) => message).join('; ')
  return new CodeHostError(fault ?? 'Conflict', `${host} refused it: ${words.slice(0, 300)}`)
}

function findOwn(error: unknown): SvcError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof SvcError) return at
  }
  return undefined
}

/** What a call threw, as one of the port's errors; a refusal by the rules for addresses stays what it is. */
export function explainCodeHostFault(error: unknown, request: Request): SvcError {
  const own = findOwn(error)
  if (own !== undefined && !isSvcError(own, 'UpstreamFailed')) return own
  const { status = 0, response } = error as FailedRequest
  if (response !== undefined && status >= 300) {
    return explainRefusal({ status, headers: response.headers, message: wordsOf(response.data) }, request)
  }
  const why = request.timedOut
    ? `${request.host} did not answer in time`
    : (own?.message ?? `${request.host}: ${messageOf(error)}`)
  return new CodeHostError('Unreachable', why, { cause: error })
}
