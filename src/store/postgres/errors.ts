// Converts errors of PostgreSQL and the network into errors of the service.
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import { codeOf } from '../../lib/error-code.ts'

const RETRY_AFTER_SECONDS = 2

/**
 * Codes of a server that is down or refuses to serve now (https://www.postgresql.org/docs/15/errcodes-appendix.html).
 */
const AWAY = /^(08...|53...|57...|58...|28...|3D000|25006|25P03|55P03|40...|XX000|E[A-Z]+)$/
/** pg's messages without a code when the connection is lost or none was available. */
const CONNECTION =
  /^(Connection terminated|timeout e|Query read timeout|Client (has|was)|Cannot use a pool|The server )/
const FULL = new Set(['53100'])
/** Serialization failure and deadlock: the unit was rolled back and may run again. */
const CONTENTION = new Set(['40001', '40P01'])
/** A character that the server's encoding cannot express: NUL. */
const UNSTORABLE = '22021'

export function isContention(error: unknown): boolean {
  return CONTENTION.has(codeOf(error))
}

/** A statement was prepared before another process changed its table; it works when prepared again. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && String((error as Error).message).includes('cached plan')
}

/** The connection was lost, or never existed: another one may work. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  if (code === '') return error instanceof Error && CONNECTION.test(error.message)
  return /^(08...|57P0[123]|25P03|E[A-Z]+)$/.test(code)
}

/** An SvcError for known errors; any other stays what it is. */
export function translateError(error: unknown): unknown {
  if (error instanceof SvcError) return error
  const code = codeOf(error)
  if (FULL.has(code)) {
    const advice = 'The disk of the database is full: nothing was written. Make room there and try again.'
    return new SvcError('StorageFull', advice, { cause: error })
  }
  if (code === UNSTORABLE) {
    return new SvcError('InvalidRequest', 'the text contains a NUL character: remove it', { cause: error })
  }
  if (!AWAY.test(code) && !isConnectionLoss(error)) return error
  // The network's message names hosts, which are none of the caller's business.
  const message = `The database cannot be used now (${code || String((error as Error).message)}): try again in a moment.`
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
}

/** What a person who starts the service needs to know, in the server's or the network's words. */
export function describeStart(error: unknown): unknown {
  const translated = translateError(error)
  if (!isSvcError(translated, 'Unavailable') || translated === error) return translated
  const message = `PostgreSQL cannot be used: ${messageOf(error)}. Check --database-url, and that the server runs.`
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
}

/** The connection was lost between a commit and its answer. */
export function describeUnknownCommit(cause: unknown): SvcError {
  const message =
    'The database went away while it stored this; it may or may not have been stored. Read it before you send it again.'
  return new SvcError('Unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })
}

export function describeClosed(): SvcError {
  return new SvcError('Unavailable', 'The database is closed: the service is stopping.')
}
