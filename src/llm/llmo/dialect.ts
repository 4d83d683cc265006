// Which parts of the language a server does not know, by its address: learned from its refusals, remembered as long as
// the process runs. The vendor and compatible servers differ in these fields.
import { BoundedMap } from '../../lib/bounded-map.ts'
import { memoizeByObject } from '../../lib/memoize.ts'
import { thinkingFields } from './attached.ts'

export type LlmoDialect = {
  /** The vendor's own API renamed the field; compatible servers know the old name. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether the server accepts the option for counts in a stream. */
  streamOptions: boolean
  /** By model: fields of its turns that it does not take back. */
  refused?: Partial<Record<string, readonly string[]>>
  /** By model: the field that it wants in each of its turns with a tool call. */
  wanted?: Partial<Record<string, string>>
  /** By model: fields of a request that it does not know, without which the same is asked. */
  unknown?: Partial<Record<string, readonly string[]>>
  /** By model, where chat completions do not take what others take: how it is asked instead. */
  doors?: Partial<Record<string, Door>>
}

/** By the responses API; or without reasoning, where a server points to that API and has none. */
export type Door = 'responses' | 'unreasoned'

export type LlmoDialects = {
  /** Absent: nothing is known yet. */
  of(address: string): LlmoDialect | undefined
  learn(address: string, dialect: LlmoDialect): void
}

const maxServers = 1000

export function createDialects(): LlmoDialects {
  const known = new BoundedMap<string, LlmoDialect>({ max: maxServers })
  return {
    of: (address) => known.get(address),
    learn: (address, dialect) => known.set(address, dialect),
  }
}

/** One memory for all callers that dial through the same port. */
export const dialectsOf = memoizeByObject((_owner: object) => createDialects())

/** The form for a server about which nothing is known. */
export function guessDialect(isVendor: boolean): LlmoDialect {
  return { maxTokensField: isVendor ? 'max_completion_tokens' : 'max_tokens', streamOptions: true }
}

/** The request that a server refused: its model, the fields of earlier turns that it contained, and its own. */
export type Refused = {
  model: string
  message: string
  status?: number | undefined
  returned: readonly string[]
  fields: readonly string[]
}

/** Another form to try after a refusal with these words; undefined when they are about something else. */
export function adaptDialect(dialect: LlmoDialect, refused: Refused): LlmoDialect | undefined {
  const { message } = refused
  const door = findDoor(dialect, refused)
  if (door !== undefined) return { ...dialect, doors: { ...dialect.doors, [refused.model]: door } }
  if (dialect.streamOptions && message.includes('stream_options')) return { ...dialect, streamOptions: false }
  const other = dialect.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return message.includes('max_completion_tokens') || message.includes(`'max_tokens'`)
    ? { ...dialect, maxTokensField: other }
    : (adaptFields(dialect, refused) ?? leaveOutUnknown(dialect, refused))
}

/** Servers that do not know a path. */
const missingStatuses = [404, 405, 501]

function findDoor({ doors }: LlmoDialect, { model, message, status = 0 }: Refused): Door | undefined {
  if (doors?.[model] === 'responses') return missingStatuses.includes(status) ? 'unreasoned' : undefined
  return doors?.[model] === undefined && /\bv1\/responses\b/.test(message) ? 'responses' : undefined
}

/** Labels, hints and settings of taste; nothing that says what is asked, or in which form it is answered. */
const dispensable = [
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'verbosity', 'reasoning_effort'],
  ...['parallel_tool_calls', 'metadata', 'user', 'safety_identifier', 'service_tier', 'store'],
  ...['prompt_cache_key', 'prompt_cache_retention'],
]

function leaveOutUnknown(dialect: LlmoDialect, { model, message, fields }: Refused): LlmoDialect | undefined {
  const known = dialect.unknown?.[model] ?? []
  const words = message.split(/\W+/)
  const named = fields.filter((field) => dispensable.includes(field) && words.includes(field) && !known.includes(field))
  if (named.length === 0 || !turnsAway.test(message)) return undefined
  return { ...dialect, unknown: { ...dialect.unknown, [model]: [...known, ...named] } }
}

/** A server that names a field of a turn does not take it back, or wants it in every turn. */
function adaptFields(dialect: LlmoDialect, { model, message, returned }: Refused): LlmoDialect | undefined {
  const words = message.split(/\W+/)
  const wanted = thinkingFields.find((field) => words.includes(field))
  const misses = wanted !== undefined && asksFor.test(message) && !turnsAway.test(message)
  if (misses && dialect.wanted?.[model] === undefined) {
    return { ...dialect, wanted: { ...dialect.wanted, [model]: wanted } }
  }
  const known = dialect.refused?.[model] ?? []
  const unwanted = returned.filter((field) => words.includes(field) && !known.includes(field))
  if (unwanted.length === 0) return undefined
  const { [model]: _asked, ...others } = dialect.wanted ?? {}
  return { ...dialect, wanted: others, refused: { ...dialect.refused, [model]: [...known, ...unwanted] } }
}

const asksFor = /missing|must be|required|needs? to|passed back|sent back/i
const turnsAway =
  /unsupported|not (be )?(permitted|allowed|supported?|included|accepted)|unexpected|unknown|unrecogni|extra|remove|deprecated|only the default/i
