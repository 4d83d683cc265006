// How calls of the service's own tools appear to a proxy's caller, and how they are recognized when they come back
// (PROXY-013, PROXY-014).
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'

/** `session` names the conversation's scratch folder, so that no replica has to remember it. */
export type ServerCallId = { session: string; id: string }

const idPattern = /^svc_([0-9a-f]{12})_(.+)$/s

/** Prefix of every such id. */
export const serverCallMark = 'svc_'

export function makeServerCallId({ session, id }: ServerCallId): string {
  return `${serverCallMark}${session}_${id}`
}

export function readServerCallId(text: unknown): ServerCallId | undefined {
  const match = typeof text === 'string' ? idPattern.exec(text) : null
  return match === null ? undefined : { session: match[1] ?? '', id: match[2] ?? '' }
}

/** A call as one line of text, for callers whose language would take it for one of their own calls. */
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

/** A result in the form of the specification (LLMA-032). */
export function describeResult(name: string, content: string): string {
  return `[Tool ${name} result]: ${content}`
}

/** The content, when the text is a result of this tool. */
export function readResult(text: string, name: string): string | undefined {
  const opening = describeResult(name, '')
  return text.startsWith(opening) ? text.slice(opening.length) : undefined
}

/** A result within a longer text: one line, whatever it contains. */
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

/** Whether it reports a failure; results are the tools' own JSON (LLMA-036). */
export function isFailure(content: string): boolean {
  return content.startsWith('{"success":false')
}

/** For a call whose result did not come back: every vendor refuses a call without a result. */
export const lostResult = JSON.stringify({
  success: false,
  error: 'The result of this call is no longer available.',
  errorType: 'outcome_unknown',
  suggestion: 'Call the tool again if the result is needed.',
})
