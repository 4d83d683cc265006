// Which failures of a connection say that nothing was sent.

/** The code of a system error or of undici, wherever it stands in the chain of causes; empty when there is none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code === 'string') return code
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined || cause === error ? '' : codeOf(cause)
}

const unsentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether the call has reached nobody: there was no connection, so it may be made again whatever it does. */
export function isUnsent(error: unknown): boolean {
  return unsentCodes.has(codeOf(error))
}
