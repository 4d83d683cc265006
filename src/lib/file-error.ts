// What the system says of a file, in plain words.
import { codeOf } from './error-code.ts'

const explanations: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read or written by this user',
  EPERM: 'the system does not allow it',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already and is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

function ownWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Of anything that was thrown: the message of the error where it is not one of the system's about a file. */
export function describeFileError(error: unknown): string {
  return explanations[codeOf(error)] ?? ownWords(error)
}

/** The same for an error that nobody has explained, with the path that it is about. */
export function describeUnforeseen(error: unknown): string {
  const path = (error as { path?: unknown } | null | undefined)?.path
  const explained = typeof path === 'string' ? explanations[codeOf(error)] : undefined
  return explained === undefined ? ownWords(error) : `${path}: ${explained}`
}
