// Turns network errors into errors that name the host and the cause.
import { isSvcError, messageOf, SvcError } from '../errors.ts'
import { BufferQuotaError } from '../lib/buffer-quota.ts'
import { codeOf, hasCode } from '../lib/error-code.ts'

const causes: Record<string, string> = {
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'the name could not be resolved (DNS)',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'it did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'it stopped sending',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
}

function listCauses(error: unknown): unknown[] {
  const chain: unknown[] = []
  let current = error
  while (current !== undefined && current !== null && chain.length < 8) {
    chain.push(current)
    if (current instanceof AggregateError) chain.push(...current.errors)
    current = current instanceof Error ? current.cause : undefined
  }
  return chain
}

/** Whether the other side was reached and then closed the connection. */
export function wasCutOff(error: unknown): boolean {
  return listCauses(error).some((cause) =>
    hasCode(cause, 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_BODY_TIMEOUT'),
  )
}

/** The SvcError in the chain of causes, or UpstreamFailed with a readable message. */
export function explainFailure(error: unknown, host: string): SvcError {
  const chain = listCauses(error)
  const own = chain.find((cause) => isSvcError(cause))
  if (own !== undefined) return own
  const excess = chain.find((cause) => cause instanceof BufferQuotaError)
  if (excess !== undefined) {
    return new SvcError('UpstreamFailed', `the answer of ${host} was not read: ${messageOf(excess)}.`, { cause: error })
  }
  const code = chain.map(codeOf).find((candidate) => causes[candidate] !== undefined)
  const why = code === undefined ? messageOf(chain.at(-1)) : `${causes[code]} (${code})`
  return new SvcError('UpstreamFailed', `${host} could not be reached: ${why}.`, { cause: error })
}
