// Turns what the protocol's SDK throws into errors that name the server and what went wrong.
import { isSvcError, messageOf, SvcError } from '../../../errors.ts'

const longestMessage = 500

/** The status of an HTTP answer that the server gave instead of one of the protocol. */
export function statusOf(error: unknown): number | undefined {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return name === 'Error' && typeof code === 'number' && code >= 100 && code <= 599 ? code : undefined
}

const mostIssues = 3

/** What its schemas refuse, the SDK tells as JSON. */
function describeError(error: unknown): string {
  const { issues } = (error ?? {}) as { issues?: unknown }
  if (!Array.isArray(issues)) return messageOf(error)
  const told = issues.slice(0, mostIssues).map(({ path, message }) => `${[path].flat().join('.')}: ${message}`)
  return `its answer is not what the protocol says: ${told.join('; ')}`
}

/** JSON-RPC 2.0, section 5.1. */
const invalidParams = -32_602

/** Errors of the protocol and of OAuth have no common class, but a code. */
export function explainMcpFailure(error: unknown, host: string): SvcError {
  if (isSvcError(error)) return error
  const message = describeError(error).slice(0, longestMessage)
  const status = statusOf(error)
  if (status === 401 || status === 403) {
    return new SvcError('NotConfigured', `${host} refused the credential of the tool (status ${status})`, {
      cause: error,
    })
  }
  if (status !== undefined)
    return new SvcError('UpstreamFailed', `${host} answered ${status}: ${message}`, { cause: error })
  const { code, errorCode } = (error ?? {}) as { code?: unknown; errorCode?: unknown }
  if (errorCode !== undefined) {
    return new SvcError('NotConfigured', `no token for ${host} could be had: ${message}`, { cause: error })
  }
  if (code === invalidParams)
    return new SvcError('InvalidRequest', `${host} refused the call: ${message}`, { cause: error })
  return new SvcError('UpstreamFailed', `${host}: ${message}`, { cause: error })
}
