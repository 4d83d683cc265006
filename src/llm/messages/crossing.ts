// How each field of a request reaches a provider of the other family: no field is dropped silently.
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { nativeOutput } from '../call/structured-output.ts'
import type { LlmaRequestBody } from '../llma/schema.ts'
import type { LlmoRequestBody } from '../llmo/schema.ts'
import type { Family, ModelRequest, Raw } from './messages.ts'

/**
 * `carried`: the neutral request contains it. `idle`: the answer is the same without it. A function returns the
 * equivalent in the other family, or undefined when there is none: then the field is refused, as `refused` does for any
 * value but the default.
 */
type Crossing = 'carried' | 'idle' | 'refused' | ((value: unknown) => JsonObject | undefined)

/** The fields that a schema names; a loose schema accepts others too. */
type Known<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] }

const nothing: JsonObject = {}

/** For settings with an explicit default. */
function only(...usual: unknown[]): Crossing {
  return (value) => (usual.includes(value) ? nothing : undefined)
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

const onlyEmpty: Crossing = (value) => (isEmpty(value) ? nothing : undefined)

/** The thinking budget from which an effort level is inferred; the budget that a family's own clients send for it. */
const budgets = [
  [10_000, 'high'],
  [5000, 'medium'],
  [0, 'low'],
] as const

/** `adaptive` and `disabled` describe what a model of the other family does by itself, as far as is known. */
function crossThinking(value: unknown): JsonObject | undefined {
  const { type, budget_tokens: budget } = value as JsonObject
  if (type === 'adaptive' || type === 'disabled') return nothing
  const effort = budgets.find(([from]) => typeof budget === 'number' && budget >= from)?.[1]
  return type === 'enabled' && effort !== undefined ? { reasoning_effort: effort } : undefined
}

const efforts: Record<string, string> = { low: 'low', medium: 'medium', high: 'high', xhigh: 'high', max: 'high' }

function crossFormat(format: unknown): JsonObject | undefined {
  if (format === undefined || format === null) return nothing
  const { type, schema } = format as JsonObject
  if (type !== 'json_schema') return undefined
  return nativeOutput.llmo(schema)
}

function crossOutput(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object') return undefined
  // A budget tells the model when to come to an end; what it may use is not limited by it.
  const { effort, format, task_budget: _budget, ...others } = value as JsonObject
  const shape = crossFormat(format)
  const wanted = effort === undefined || effort === null ? nothing : { reasoning_effort: efforts[String(effort)] }
  if (shape === undefined || Object.keys(others).length > 0 || Object.values(wanted).includes(undefined))
    return undefined
  return { ...wanted, ...shape }
}

function crossUser(metadata: unknown): JsonObject | undefined {
  const { user_id: user, ...others } = metadata as JsonObject
  if (Object.keys(others).length > 0) return undefined
  return user === undefined || user === null ? nothing : { user }
}

const fromLlma: Record<Known<LlmaRequestBody>, Crossing> & Record<string, Crossing> = {
  model: 'carried',
  max_tokens: 'carried',
  messages: 'carried',
  system: 'carried',
  stream: 'carried',
  temperature: 'carried',
  top_p: 'carried',
  stop_sequences: 'carried',
  tools: 'carried',
  tool_choice: (choice) =>
    (choice as JsonObject).disable_parallel_tool_use === true ? { parallel_tool_calls: false } : nothing,
  top_k: 'refused',
  thinking: crossThinking,
  metadata: crossUser,
  output_config: crossOutput,
  output_format: crossFormat,
  // About where and how fast the vendor works, what it caches or may leave out: not about what is asked.
  cache_control: 'idle',
  context_management: 'idle',
  service_tier: 'idle',
  speed: 'idle',
  betas: 'idle',
  diagnostics: 'idle',
  fallbacks: 'idle',
  safeguards: 'idle',
  mcp_servers: onlyEmpty,
  container: 'refused',
  inference_geo: 'refused',
}

function crossResponseFormat(format: unknown): JsonObject | undefined {
  const { type, json_schema: named } = format as JsonObject
  if (type === 'text') return nothing
  const schema = (named as JsonObject | undefined)?.schema
  return type === 'json_schema' && schema !== undefined ? nativeOutput.llma(schema) : undefined
}

const reasoningEfforts: Record<string, string> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
}

function crossEffort(value: unknown): JsonObject | undefined {
  if (value === 'none') return nothing
  const effort = reasoningEfforts[String(value)]
  return effort === undefined ? undefined : { output_config: { effort } }
}

const crossUserId: Crossing = (user) => ({ metadata: { user_id: user } })

const fromLlmo: Record<Known<LlmoRequestBody>, Crossing> & Record<string, Crossing> = {
  model: 'carried',
  messages: 'carried',
  stream: 'carried',
  stream_options: 'carried',
  max_tokens: 'carried',
  max_completion_tokens: 'carried',
  temperature: 'carried',
  top_p: 'carried',
  stop: 'carried',
  tools: 'carried',
  tool_choice: 'carried',
  n: only(1),
  parallel_tool_calls: (value) => (value === false ? { tool_choice: { disable_parallel_tool_use: true } } : nothing),
  reasoning_effort: crossEffort,
  response_format: crossResponseFormat,
  user: crossUserId,
  safety_identifier: crossUserId,
  // Labels for the vendor's own store, its caches, its speed.
  metadata: 'idle',
  prediction: 'idle',
  prompt_cache_key: 'idle',
  prompt_cache_retention: 'idle',
  service_tier: 'idle',
  store: only(false),
  frequency_penalty: only(0),
  presence_penalty: only(0),
  logit_bias: onlyEmpty,
  logprobs: only(false),
  top_logprobs: only(0),
  seed: 'refused',
  modalities: (value) => (JSON.stringify(value) === '["text"]' ? nothing : undefined),
  verbosity: only('medium'),
  audio: 'refused',
  functions: 'refused',
  function_call: 'refused',
  top_k: 'refused',
  web_search_options: 'refused',
}

export const crossings: Record<Family, Record<string, Crossing>> = { llma: fromLlma, llmo: fromLlmo }
const others = { llma: 'llmo', llmo: 'llma' } as const satisfies Record<Family, Family>

function refuse(field: string, family: Family): never {
  const advice = `Leave it out, or use a provider of type ${family}`
  throw new SvcError(
    'InvalidRequest',
    `${field}: cannot be translated for a provider of type ${others[family]} with this value. ${advice}.`,
  )
}

/** The `type` of a tool that both families can describe. */
const ownTypes: Record<Family, unknown[]> = { llma: [undefined, null, 'custom'], llmo: ['function'] }
/** The caller runs these, but only a vendor of its family knows how they are called. Others run at the vendor. */
const clientTypes: Record<Family, RegExp> = { llma: /^(bash|computer|memory|text_editor)_/, llmo: /^custom$/ }

/** Tools of the service that do what a tool of the vendor does, by its type. */
const servedBy: [RegExp, string][] = [
  [/^web_search/, 'web_search'],
  [/^web_fetch/, 'web_fetch'],
  [/^code_execution/, 'code_exec'],
]

function toolsOf({ json }: Raw): JsonObject[] {
  return Array.isArray(json.tools) ? (json.tools as JsonObject[]) : []
}

function isHosted(family: Family, { type }: JsonObject): boolean {
  return !ownTypes[family].includes(type) && !clientTypes[family].test(String(type))
}

function requireKnownTools(raw: Raw): void {
  const { family } = raw
  for (const [at, tool] of toolsOf(raw).entries()) {
    const isKnown = ownTypes[family].includes(tool.type) || isHosted(family, tool)
    if (!isKnown) refuse(`tools.${at} (type "${String(tool.type)}")`, family)
  }
}

/** What a provider of the other family is not given; `servedBy` names the tool of the service that stands in for it. */
export type LeftOutFields = { what: string; servedBy?: string }

/**
 * The request without the tools that only a vendor of its own family runs, and what is left out of it for one of the
 * other: these tools, and fields that are not known here.
 */
export function leaveOutForeign(
  request: ModelRequest,
  target: Family,
): { request: ModelRequest; leftOut: LeftOutFields[] } {
  const { raw } = request
  if (raw === undefined || raw.family === target) return { request, leftOut: [] }
  const fields = Object.keys(raw.json).filter((field) => !Object.hasOwn(crossings[raw.family], field))
  const hosted = toolsOf(raw).filter((tool) => isHosted(raw.family, tool))
  const tools = request.tools.filter((tool) => tool.raw === undefined || !hosted.includes(tool.raw.json))
  const leftTools = hosted.map(({ type, name }): LeftOutFields => {
    const [, stand] = servedBy.find(([pattern]) => pattern.test(String(type))) ?? []
    return { what: `tool ${String(name ?? type)}`, ...(stand !== undefined && { servedBy: stand }) }
  })
  const leftOut = [...leftTools, ...fields.map((what) => ({ what }))]
  const { toolChoice: choice, ...rest } = request
  const isLeft = choice?.type === 'tool' && hosted.some(({ name }) => name === choice.name)
  return { request: { ...rest, tools, ...(choice && !isLeft && { toolChoice: choice }) }, leftOut }
}

/** An unknown field is left out, as `leaveOutForeign` tells. */
function crossField(family: Family, field: string, value: unknown): JsonObject {
  const crossing = Object.hasOwn(crossings[family], field) ? crossings[family][field] : 'idle'
  if (crossing === 'carried' || crossing === 'idle') return nothing
  return (typeof crossing === 'function' ? crossing(value) : undefined) ?? refuse(field, family)
}

/** Merges objects when two fields map to the same one. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  const merged = Object.entries(b).map(([key, value]): [string, unknown] => [
    key,
    typeof a[key] === 'object' && typeof value === 'object' ? { ...a[key], ...value } : value,
  ])
  return { ...a, ...Object.fromEntries(merged) }
}

/**
 * What the caller's original request adds to the body for a provider of the other family; nothing within its own.
 * InvalidRequest names the first field with a meaning that cannot be translated.
 */
export function crossFields(raw: Raw | undefined, target: Family): JsonObject {
  if (raw === undefined || raw.family === target) return nothing
  requireKnownTools(raw)
  return Object.entries(raw.json)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([field, value]) => crossField(raw.family, field, value))
    .reduce(merge, nothing)
}
