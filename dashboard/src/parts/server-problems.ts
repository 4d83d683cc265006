import { isSvcError } from '../../../src/errors.ts'

/** What the service said about one field of a request: `stringData`, and what is below it (`stringData.key`). */
export function problemOf(error: unknown, field: string): string | undefined {
  const problems = isSvcError(error) ? (error.details ?? []) : []
  return problems.find(({ path }) => path === field || path.startsWith(`${field}.`))?.message
}
