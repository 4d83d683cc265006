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
}

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

/** The request that a server refused: its model, and the fields of earlier turns that it contained. */
export type Refused = { model: string; message: string; returned: readonly string[] }

/** Another form to try after a refusal with these words; undefined when they are about something else. */
export function adaptDialect(dialect: LlmoDialect, refused: Refused): LlmoDialect | undefined {
  const { message } = refused
  if (dialect.streamOptions && message.includes('stream_options')) return { ...dialect, streamOptions: false }
  const other = dialect.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return message.includes('max_completion_tokens') || message.includes(`'max_tokens'`)
    ? { ...dialect, maxTokensField: other }
    : adaptFields(dialect, refused)
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
  /unsupported|not (be )?(permitted|allowed|supported|included|accepted)|unexpected|unknown|unrecogni|extra|remove/i
