// What the system's file errors mean to a model.
import { type ErrorReason, SvcError } from '../../errors.ts'

const meanings: Record<string, [ErrorReason, string]> = {
  ENOENT: ['NotFound', 'does not exist'],
  ENOTDIR: ['InvalidRequest', 'goes through something that is not a folder'],
  EISDIR: ['InvalidRequest', 'is a folder, not a file'],
  // O_NOFOLLOW: what was checked a moment ago has become a link.
  ELOOP: ['Forbidden', 'is or goes through a link that may not be followed'],
  ENAMETOOLONG: ['InvalidRequest', 'has a name that is too long'],
  EACCES: ['Forbidden', 'may not be accessed'],
  EPERM: ['Forbidden', 'may not be accessed'],
  EROFS: ['Forbidden', 'is on a read-only file system'],
  // Opening a FIFO without a reader, or a socket.
  ENXIO: ['InvalidRequest', 'is not a regular file'],
  ENOSPC: ['StorageFull', 'cannot be written: the disk is full'],
  EDQUOT: ['StorageFull', 'cannot be written: the disk quota is used up'],
}

export function fileErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

export function explainFileError(error: unknown, path: string): SvcError {
  if (error instanceof SvcError) return error
  const code = fileErrorCode(error) ?? 'unknown error'
  const [reason, meaning] = meanings[code] ?? ['Internal', `cannot be used (${code})`]
  return new SvcError(reason, `"${path.slice(0, 200)}" ${meaning}`, { cause: error })
}
