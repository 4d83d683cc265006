// What a worker gets by pipe when it starts: everything it may know about its one task attempt.
import { z } from 'zod'
import { Price, RateLimit } from '../resources/provider.ts'
import { vendorTypes } from '../resources/vendor.ts'
import { TranscriptMessage } from './sessions.ts'

/** How to reach one provider. */
export const AssignedProvider = z.object({
  namespace: z.string(),
  name: z.string(),
  type: z.enum(vendorTypes),
  /** Absent: the vendor's own address. */
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  azure: z.object({ deploymentName: z.string(), apiVersion: z.string() }).optional(),
  /** The machine's owner set the base URL (annotation `svc.ai/trusted-base-url`): loopback and private addresses pass. */
  trusted: z.boolean().optional(),
  /** Hosts that the key may be sent to (annotation `svc.ai/allowed-hosts` of its Secret). Absent: any. */
  allowedHosts: z.array(z.string()).optional(),
  /** Present: each call needs a lease first (of a worker: POST /internal/v1/leases). */
  rateLimit: RateLimit.optional(),
  price: Price.optional(),
})
export type AssignedProvider = z.infer<typeof AssignedProvider>

export const ModelChoice = z.object({ provider: AssignedProvider, model: z.string() })
export type ModelChoice = z.infer<typeof ModelChoice>

/** A custom tool with plain HTTP, its credential resolved. */
export const AssignedTool = z.object({
  name: z.string(),
  description: z.string(),
  /** JSON Schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()),
  http: z.object({
    url: z.string(),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    headers: z.record(z.string(), z.string()),
    timeoutMs: z.number().positive(),
    auth: z
      .object({ inject: z.enum(['header', 'body']), bodyKey: z.string().optional(), token: z.string() })
      .optional(),
    /** Hosts that the token may be sent to. Absent: any. */
    allowedHosts: z.array(z.string()).optional(),
  }),
})
export type AssignedTool = z.infer<typeof AssignedTool>

export const AssignedTask = z.object({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  /** From 1. */
  attempt: z.int().min(1),
  type: z.enum(['ai', 'container', 'agent']),
  agentName: z.string().optional(),
  sessionName: z.string().optional(),
  /** Name of the coordinator task. */
  parentTask: z.string().optional(),
  /** Environment of code that the task runs: its own variables, then `SVC_TRANSACTION_*`. */
  variables: z.record(z.string(), z.string()).optional(),
  /** Files that such code finds, read-only, by absolute path: the Secrets that task and agent name with `secretRef`. */
  files: z.record(z.string(), z.string()).optional(),
})
export type AssignedTask = z.infer<typeof AssignedTask>

export const AssignedLoop = z.object({
  maxIterations: z.int().min(1),
  maxToolCalls: z.int().min(1),
  maxTokens: z.int().min(1).optional(),
  temperature: z.number().optional(),
  toolTimeoutMs: z.number().positive(),
  systemPrompt: z.string(),
  prompt: z.string(),
  /** Names of the built-in tools that are on. */
  tools: z.array(z.string()),
})
export type AssignedLoop = z.infer<typeof AssignedLoop>

/** Addresses beyond the public ones (CIDR) and `host:port` pairs of the service itself, which are never dialled. */
export const AssignedEgress = z.object({ allowNetworks: z.array(z.string()), deny: z.array(z.string()) })
export type AssignedEgress = z.infer<typeof AssignedEgress>

export const AssignedSearch = z.object({
  backend: z.enum(['searxng', 'brave', 'tavily', 'json']),
  url: z.string().optional(),
  apiKey: z.string().optional(),
})
export type AssignedSearch = z.infer<typeof AssignedSearch>

/**
 * How calls of custom tools carry the task's transaction: each with a token of its own, asked of the service; with the one
 * that is given here; or not at all, since the task is part of no transaction.
 */
export const AssignedPropagation = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('exchange') }),
  z.object({ mode: z.literal('token'), token: z.string() }),
  z.object({ mode: z.literal('none') }),
])
export type AssignedPropagation = z.infer<typeof AssignedPropagation>

export const WorkAssignment = z.object({
  version: z.literal(1),
  /** The worker API, and the token of this attempt. */
  api: z.object({ url: z.string(), token: z.string() }),
  task: AssignedTask,
  /** RFC 3339; the attempt must have ended by then. */
  deadline: z.string().optional(),
  /** The same as a length of time: where the start may be put off, it counts from then (TASK-041). */
  timeoutMs: z.number().positive().optional(),
  loop: AssignedLoop,
  /** Order of preference. */
  model: z.object({
    choices: z.array(ModelChoice),
    /** Present: the agent has a rate limit of its own over all its calls. */
    agent: z.object({ namespace: z.string(), name: z.string(), rateLimit: RateLimit }).optional(),
  }),
  customTools: z.array(AssignedTool),
  egress: AssignedEgress,
  /** Absent: web_search is not configured. */
  search: AssignedSearch.optional(),
  /** Absent: context tokens are off, and tools may set any header. */
  propagation: AssignedPropagation.optional(),
  /** The newest messages of the task's session, oldest first. */
  session: z.object({ name: z.string(), messages: z.array(TranscriptMessage) }).optional(),
  /** Values that must never appear in logs, results and errors. */
  redact: z.array(z.string()),
})
export type WorkAssignment = z.infer<typeof WorkAssignment>
