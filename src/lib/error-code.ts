// The codes that errors of the system, of databases and of libraries carry, and which of them say that nothing was sent.

/** The error's own code, such as `ENOENT`; empty when it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}

/** Whether it is the error's own code. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error))
}

/** Whether the disk, or what somebody may have of it, is used up. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT')
}

/** The first code in the chain of causes; empty when there is none. */
export function causeCodeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return codeOf(error) || (cause === undefined || cause === error ? '' : causeCodeOf(cause))
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
  return unsentCodes.has(causeCodeOf(error))
}
