// Problems that the service found in what was sent, at the fields they are about.
import { isSvcError } from '../../../src/errors.ts'

export type Problems = {
  /** The problem of a field, by its path in the body. */
  of: (...paths: string[]) => string | undefined
  /** Whether a problem is of none of the fields. */
  hasOthers: boolean
}

function stem(path: string): string {
  return path.replace(/^spec\./, '').replace(/[.[].*$/, '')
}

/** `known` are the paths of the fields that the form has, without `spec.` and without what follows their first part. */
export function readProblems(error: unknown, known: readonly string[]): Problems {
  const details = isSvcError(error) ? (error.details ?? []) : []
  return {
    of: (...paths) =>
      details
        .filter(({ path }) => paths.includes(stem(path)))
        .map(({ path, message }) => (path.includes('.') && !path.startsWith('spec.') ? `${path} ${message}` : message))
        .join('; ') || undefined,
    hasOthers:
      error !== null &&
      error !== undefined &&
      (details.length === 0 || details.some(({ path }) => !known.includes(stem(path)))),
  }
}
