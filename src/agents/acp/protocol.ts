// The Agent Client Protocol, version 1: the part of its messages that a run needs, one JSON-RPC message a line, and how the
// rules of the task answer what an agent asks a person for.
import { resolve, sep } from 'node:path'
import { z } from 'zod'
import type { AgentJob } from '../agent-runtime.ts'

export const protocolVersion = 1

/** Of a tool call, and of later updates about it. */
const AcpToolCall = z.object({
  toolCallId: z.string(),
  title: z.string().nullish(),
  /** `read`, `edit`, `execute` and others. */
  kind: z.string().nullish(),
  status: z.string().nullish(),
  rawInput: z.unknown().optional(),
  locations: z.array(z.object({ path: z.string() })).nullish(),
  content: z.unknown().optional(),
})
export type AcpToolCall = z.infer<typeof AcpToolCall>

const Update = z.union([
  z.object({
    sessionUpdate: z.enum(['agent_message_chunk', 'agent_thought_chunk']),
    content: z.object({ text: z.string().default('') }),
  }),
  AcpToolCall.extend({ sessionUpdate: z.enum(['tool_call', 'tool_call_update']) }),
])
export type Update = z.infer<typeof Update>

export const PermissionRequest = z.object({
  toolCall: AcpToolCall,
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })),
})
export type PermissionRequest = z.infer<typeof PermissionRequest>

export const Initialized = z.object({
  agentCapabilities: z
    .object({
      loadSession: z.boolean().optional(),
      sessionCapabilities: z.object({ resume: z.unknown().optional() }).optional(),
    })
    .default({}),
})

export const Opened = z.object({ sessionId: z.string().optional() }).nullable()
export const Prompted = z.object({ stopReason: z.string() })

export const AcpMessage = z.union([
  z.object({ method: z.literal('session/update'), params: z.object({ update: Update }) }),
  z.object({ id: z.union([z.string(), z.number()]), method: z.string(), params: z.unknown() }),
  z.object({ id: z.number(), error: z.object({ message: z.string() }) }),
  z.object({ id: z.number(), result: z.unknown() }),
])
export type AcpMessage = z.infer<typeof AcpMessage>

export function writeMessage(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

/** Tools are named by their kind or their title. */
function isNamed(names: string[], { kind, title }: AcpToolCall): boolean {
  return [kind, title].some((name) => typeof name === 'string' && names.includes(name))
}

/** Why the call is not allowed; undefined if it is. */
export function findObstacle(job: AgentJob, call: AcpToolCall): string | undefined {
  const { allowBash, allowedTools, disallowedTools = [], workFolder } = job
  const { kind, locations } = call
  const isInside = (path: string) => `${resolve(workFolder, path)}${sep}`.startsWith(`${workFolder}${sep}`)
  if (kind === 'execute' && !allowBash) return 'The task allows no shell commands.'
  if (isNamed(disallowedTools, call)) return 'The task does not allow this tool.'
  if (allowedTools !== undefined && !isNamed(allowedTools, call)) return 'The task allows other tools only.'
  const outside = kind === 'read' ? undefined : locations?.find(({ path }) => !isInside(path))
  return outside === undefined ? undefined : `${outside.path} lies outside of the workspace.`
}

/** Whether a person decides about a call that the rules allow. A program that names no kind means `other`. */
export function needsApproval({ approvalRequiredTools = [] }: AgentJob, call: AcpToolCall): boolean {
  return isNamed(approvalRequiredTools, { ...call, kind: call.kind ?? 'other' })
}

/** The answer that holds for this call alone, where there is one. */
export function chooseOption({ options }: PermissionRequest, isAllowed: boolean): object {
  const word = isAllowed ? 'allow' : 'reject'
  const chosen = [`${word}_once`, `${word}_always`].flatMap((kind) =>
    options.filter((option) => option.kind === kind),
  )[0]
  return chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId }
}
