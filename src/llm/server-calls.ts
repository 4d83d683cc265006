// How calls of the service's own tools look to the caller of a proxy, and how they are known again when they come back (PROXY-013, PROXY-014).
import type { JsonObject } from '../contract/json.ts'
import { parseForeignObject } from './foreign-json.ts'

/** `session` names the scratch folder of the conversation, so that it needs no memory of a replica. */
export type ServerCallId = { session: string; id: string }

const idPattern = /^svc_([0-9a-f]{12})_(.+)$/s

/** Every such id begins with it. */
export const serverCallMark = 'svc_'

export function makeServerCallId({ session, id }: ServerCallId): string {
  return `${serverCallMark}${session}_${id}`
}

export function readServerCallId(text: unknown): ServerCallId | undefined {
  const match = typeof text === 'string' ? idPattern.exec(text) : null
  return match === null ? undefined : { session: match[1] ?? '', id: match[2] ?? '' }
}

/** A call as text, for callers whose language would take it for a call of their own. One line. */
export function describeCall(call: { id: string; name: string; args: JsonObject }): string {
  return `[Tool ${call.name} call ${call.id}]: ${JSON.stringify(call.args)}`
}

export type DescribedCall = ServerCallId & { name: string; args: string }

const callPattern = /^\[Tool (\S+) call (svc_[0-9a-f]{12}_\S+)\]: (\{.*\})$/s

export function readCall(text: string): DescribedCall | undefined {
  const [, name = '', id = '', args = ''] = callPattern.exec(text) ?? []
  const known = readServerCallId(id)
  return known === undefined || parseForeignObject(args) === undefined ? undefined : { ...known, name, args }
}

/** A result as the specification wants it shown (LLMA-032). */
export function describeResult(name: string, content: string): string {
  return `[Tool ${name} result]: ${content}`
}

/** The content, when the text is a result of this tool. */
export function readResult(text: string, name: string): string | undefined {
  const opening = describeResult(name, '')
  return text.startsWith(opening) ? text.slice(opening.length) : undefined
}

/** A result that stands in a longer text: one line, whatever it holds. */
export function describeResultLine(name: string, content: string): string {
  const isPlain = !/[\r\n]/.test(content) && !content.startsWith('"')
  return describeResult(name, isPlain ? content : JSON.stringify(content))
}

export function readResultLine(line: string, name: string): string | undefined {
  const content = readResult(line, name)
  if (content === undefined || !content.startsWith('"')) return content
  try {
    return String(JSON.parse(content))
  } catch {
    return content
  }
}

/** Whether a failure is told in it: results are the tools' own JSON (LLMA-036). */
export function isFailure(content: string): boolean {
  return content.startsWith('{"success":false')
}

/** For a call whose result did not come back: a call without one is refused by every vendor. */
export const lostResult = JSON.stringify({
  success: false,
  error: 'The result of this call was not kept.',
  errorType: 'outcome_unknown',
  suggestion: 'Call the tool again if the result is needed.',
})
