// Errors of the file system as the service's own.
import { SvcError } from '../../errors.ts'
import { hasCode, isDiskFull } from '../../lib/error-code.ts'

/** StorageFull for a full disk or quota; anything else stays as it is. */
export function toStorageError(error: unknown): unknown {
  if (!isDiskFull(error) && !hasCode(error, 'EFBIG')) return error
  return new SvcError('StorageFull', 'the disk of the data folder is full: free some space and try again', {
    cause: error,
  })
}
