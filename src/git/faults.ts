// What went wrong, as one of the faults of the port.
import { isSvcError, messageOf } from '../errors.ts'
import { isDiskFull } from '../lib/error-code.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'

export const diskFull = () =>
  new CheckoutError(
    'DiskFull',
    'There is no space left for the repository. Free some of the disk, or give the task a larger workspace.',
  )

export const tooSlow = (timeoutMs: number) =>
  new CheckoutError(
    'TooSlow',
    `The repository was not ready within ${Math.round(timeoutMs / 1000)} s. Raise the time limit, or try again later.`,
  )

/** Names what the disk, the network, the system and git report; anything else stays as it is. */
export function explainGitFault(error: unknown): unknown {
  if (error instanceof CheckoutError) return error
  if (isDiskFull(error)) return diskFull()
  if (isSvcError(error, 'Forbidden') || isSvcError(error, 'InvalidRequest'))
    return new CheckoutError('AddressRefused', error.message, { cause: error })
  if (isSvcError(error)) return new CheckoutError('Unreachable', error.message, { cause: error })
  // Its text holds a path of the service's own folders.
  if (isSystemFault(error)) return new CheckoutError('GitFailed', describeSystemFault(error), { cause: error })
  return error
}

function isSystemFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

const describeSystemFault = ({ code }: NodeJS.ErrnoException) =>
  `The files of the repository could not be written or read (${code}). Its folders may be too deep, or names too long for this system.`

const maxLineLength = 500

/** One line that is safe to show: of what git or a server wrote. */
export function toOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const clean = text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replace(/[\x00-\x1f\x7f]+/g, ' ')
  return clean.trim().slice(0, maxLineLength)
}

const fullTexts = /no space left on device|disk quota exceeded|file too large/i

/** Whether git said that the disk is full. */
export const saysFull = (stderr: string): boolean => fullTexts.test(stderr)

export function explainGit(what: string, stderr: string): CheckoutError {
  if (saysFull(stderr)) return diskFull()
  return new CheckoutError('GitFailed', `git ${what} failed: ${toOneLine(stderr) || 'it gave no reason'}`)
}

export function missingGit(error: unknown): CheckoutError {
  const message = `git cannot be started (${messageOf(error)}). Install git 2.36 or newer.`
  return new CheckoutError('GitMissing', message, { cause: error })
}

/** Runs `work`; what it throws is a fault of the port, or the reason of `signal`. */
export async function underFaults<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw explainGitFault(error)
  }
}
