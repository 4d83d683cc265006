// Problems that the service found in what was sent, at the fields they are about.
import { isSvcError, type Problem } from '../../../src/errors.ts'

export type Problems = {
  /** The problem of a field, by its path in the body. */
  of: (...paths: string[]) => string | undefined
  /** Whether a problem is of none of the fields. */
  hasOthers: boolean
}

function detailsOf(error: unknown): Problem[] {
  return isSvcError(error) ? (error.details ?? []) : []
}

function stem(path: string): string {
  return path.replace(/^spec\./, '').replace(/[.[][\s\S]*$/, '')
}

/** `known` are the paths of the fields that the form has, without `spec.` and without what follows their first part. */
export function readProblems(error: unknown, known: readonly string[]): Problems {
  const details = detailsOf(error)
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

/** What the service said about one field of a request: `stringData`, and what is below it (`stringData.key`). */
export function problemOf(error: unknown, field: string): string | undefined {
  return detailsOf(error).find(({ path }) => path === field || path.startsWith(`${field}.`))?.message
}
