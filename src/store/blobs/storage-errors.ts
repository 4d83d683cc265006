// Errors of the file system as the service's own.
import { SvcError } from '../../errors.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** True when `error` is a system error with this code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** StorageFull for a full disk or quota; anything else stays as it is. */
export function toStorageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!FULL.has(code)) return error
  return new SvcError('StorageFull', 'the disk of the data folder is full: free some space and try again', {
    cause: error,
  })
}
