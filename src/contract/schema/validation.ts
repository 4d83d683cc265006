// Turns a zod error into the list of problems for the client, each with its own path (HTTP-004, HTTP-015).
import { z } from 'zod'
import { type Problem, SvcError } from '../../errors.ts'

/**
 * The most values in a parsed body. Checking each value takes microseconds in which no other request is served; millions
 * of short values could block the service for minutes, while legitimate large bodies consist of long texts.
 */
export const maxJsonValues = 20_000

/** The most problems in an answer, so that a hostile body cannot make it large. */
export const maxProblems = 1000

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** A path as text: `spec.env[0].name`, `metadata.labels["example.com/a"]`; empty for the whole body. Long keys are cut. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (/^[A-Za-z_][A-Za-z0-9_-]{0,199}$/.test(String(part)))
      text += text === '' ? String(part) : `.${String(part)}`
    else text += `[${JSON.stringify(String(part)).slice(0, 200)}]`
  }
  return text
}

/** Adds `prefix` to a path that is already text. */
export function joinPath(prefix: string, path: string): string {
  if (prefix === '' || path === '') return `${prefix}${path}`
  return path.startsWith('[') ? `${prefix}${path}` : `${prefix}.${path}`
}

/** Adds problems whose paths are already text to the parse of a transform. */
export function addProblems(context: z.RefinementCtx, problems: readonly Problem[]): void {
  for (const { path, message } of problems.slice(0, maxProblems))
    context.addIssue({ code: 'custom', message, params: { at: path } })
}

const typeNames: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function describeSize(issue: RawIssue, bound: 'at least' | 'at most'): string {
  const limit = bound === 'at least' ? issue.minimum : issue.maximum
  const exclusive = issue.inclusive === false ? (bound === 'at least' ? 'more than' : 'less than') : bound
  if (issue.origin === 'string') return `must have ${exclusive} ${limit} characters`
  if (issue.origin === 'array') return `must have ${exclusive} ${limit} entries`
  return `must be ${exclusive} ${limit}`
}

/** The message for an issue whose schema has none; a zod error map for `safeParse`. */
export function describeIssue(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${typeNames[issue.expected as string] ?? issue.expected}`
    case 'invalid_value': {
      const values = issue.values as unknown[]
      if (issue.input === undefined) return `is required; one of ${values.join(', ')}`
      return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
    }
    case 'too_small':
      return describeSize(issue, 'at least')
    case 'too_big':
      return describeSize(issue, 'at most')
    case 'unrecognized_keys':
      return 'is not a known field'
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be a time in UTC like 2026-01-31T12:00:00Z' : undefined
    default:
      return undefined
  }
}

/** What is wrong by each of the forms that a value may have: of a list as many entries may be wrong. */
const maxAlternatives = 6

function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  if ('options' in issue && issue.options) return `must be one of ${issue.options.join(', ')}`
  const problems = issue.errors.flatMap((issues) =>
    issues.slice(0, maxAlternatives).flatMap((inner) => toProblems(inner, []).slice(0, maxAlternatives)),
  )
  const messages = new Set(problems.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)))
  return messages.size === 0 ? issue.message : [...messages].slice(0, maxAlternatives).join(', or ')
}

function describeKey(issue: Extract<Issue, { code: 'invalid_key' }>): string {
  return `key ${[...new Set(issue.issues.map((inner) => inner.message))].join(', and ')}`
}

function toProblems(issue: Issue, prefix: readonly PropertyKey[]): Problem[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, maxProblems + 1)
      .map((key) => ({ path: formatPath([...path, key]), message: 'is not a known field' }))
  }
  if (issue.code === 'invalid_union') return [{ path: formatPath(path), message: describeUnion(issue) }]
  if (issue.code === 'custom' && typeof issue.params?.at === 'string') {
    return [{ path: joinPath(formatPath(path), issue.params.at), message: issue.message }]
  }
  if (issue.code === 'invalid_key') return [{ path: formatPath(path), message: describeKey(issue) }]
  return [{ path: formatPath(path), message: issue.message }]
}

/** What is wrong, without the path: of an issue whose messages `describeIssue` has made. */
export function explainIssue(issue: Issue): string {
  return toProblems(issue, [])[0]?.message ?? issue.message
}

/** The problems of a zod error, at most one more than are listed; `prefix` is added to each path. */
export function problemsOf(error: z.core.$ZodError, prefix: readonly PropertyKey[] = []): Problem[] {
  const problems: Problem[] = []
  for (const issue of error.issues) {
    if (problems.length > maxProblems) break
    problems.push(...toProblems(issue, prefix))
  }
  return problems.slice(0, maxProblems + 1)
}

/**
 * `safeParse` with the messages of this service. Messages are made only for the problems that are reported: every value of
 * a body can have one, and making a message costs more than finding the problem.
 */
export function parse<S extends z.ZodType>(schema: S, input: unknown): z.ZodSafeParseResult<z.output<S>> {
  const context = { error: describeIssue, async: false } as const
  const { value, issues } = runNow(schema, input, context)
  if (issues.length === 0) return { success: true, data: value as z.output<S> }
  const shown = issues.slice(0, maxProblems + 1)
  const error = new z.ZodError(shown.map((issue) => z.core.util.finalizeIssue(issue, context, z.config())))
  return { success: false, error: error as z.ZodError<z.output<S>> }
}

function runNow(schema: z.ZodType, value: unknown, context: z.core.ParseContextInternal): z.core.ParsePayload {
  const result = schema._zod.run({ value, issues: [] }, context)
  if (result instanceof Promise) throw new z.core.$ZodAsyncError()
  return result
}

/** One sentence for a list of problems: the first one, and the number of the others. */
export function summarizeProblems(what: string, problems: readonly Problem[]): string {
  const first = problems[0]
  if (first === undefined) return `invalid ${what}`
  const subject = first.path === '' ? '' : `${first.path} `
  const others = Math.min(problems.length, maxProblems) - 1
  const atLeast = problems.length > maxProblems ? 'at least ' : ''
  const more = others > 0 ? ` (and ${atLeast}${others} more; see details)` : ''
  return `invalid ${what}: ${subject}${first.message}${more}`
}

/** Throws InvalidRequest with all problems if there are any. */
export function refuse(what: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  throw new SvcError('InvalidRequest', summarizeProblems(what, problems), { details: problems.slice(0, maxProblems) })
}

/** The parsed input; InvalidRequest with every problem. `what` names the input in the message ("task", "query"). */
export function parseOrThrow<S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> {
  const result = parse(schema, input)
  if (result.success) return result.data
  const problems = problemsOf(result.error)
  throw new SvcError('InvalidRequest', summarizeProblems(what, problems), { details: problems.slice(0, maxProblems) })
}
