// PostgreSQL's and the network's errors as errors of the service.
import { isSvcError, messageOf, SvcError } from '../../../errors.ts'

const RETRY_AFTER_SECONDS = 2

/** Codes of a server that is away or will not serve now (https://www.postgresql.org/docs/15/errcodes-appendix.html). */
const AWAY = /^(08...|53...|57...|58...|28...|3D000|25006|25P03|55P03|40...|XX000|E[A-Z]+)$/
/** What pg says without a code when the connection is gone or none was to be had. */
const CONNECTION =
  /^(Connection terminated|timeout e|Query read timeout|Client (has|was)|Cannot use a pool|The server )/
const FULL = new Set(['53100'])
/** Serialization failure and deadlock: the unit was taken back and may run again. */
const CONTENTION = new Set(['40001', '40P01'])
/** A character that the server's encoding has no form for: NUL. */
const UNSTORABLE = '22021'

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function isContention(error: unknown): boolean {
  return CONTENTION.has(codeOf(error))
}

/** A statement was prepared before another process changed its table; prepared again, it works. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && String((error as Error).message).includes('cached plan')
}

/** The connection did not last, or was never there: another one may. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  if (code === '') return error instanceof Error && CONNECTION.test(error.message)
  return /^(08...|57P0[123]|25P03|E[A-Z]+)$/.test(code)
}

/** SvcError for what the service has a word for; anything else stays what it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof SvcError) return error
  const code = codeOf(error)
  if (FULL.has(code)) {
    const advice = 'The disk of the database is full: nothing was written. Make room there and try again.'
    return new SvcError('StorageFull', advice, { cause: error })
  }
  if (code === UNSTORABLE) {
    return new SvcError('InvalidRequest', 'the text holds a NUL character: leave it out', { cause: error })
  }
  if (!AWAY.test(code) && !isConnectionLoss(error)) return error
  // The message of the network names hosts, which a caller has no business with.
  const message = `The database cannot be used now (${code || String((error as Error).message)}): try again in a moment.`
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
}

/** What a person who starts the service needs to know, in the words of the server or the network. */
export function describeStart(error: unknown): unknown {
  const translated = translateError(error)
  if (!isSvcError(translated, 'Unavailable') || translated === error) return translated
  const message = `PostgreSQL cannot be used: ${messageOf(error)}. Check --database-url, and that the server runs.`
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
}

/** The connection was lost between a commit and its answer. */
export function describeUnknownCommit(cause: unknown): SvcError {
  const message =
    'The database went away while it stored this; whether it did is not known. Read it before you send it again.'
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}

export function describeClosed(): SvcError {
  return new SvcError('Unavailable', 'The database is closed: the service is stopping.')
}
