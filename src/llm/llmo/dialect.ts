// Which parts of the language a server does not know, by its address: learned from its refusals, remembered as long as
// the process runs. The vendor and compatible servers differ in these fields.
import { BoundedMap } from '../../lib/bounded-map.ts'
import { memoizeByObject } from '../../lib/memoize.ts'

export type LlmoDialect = {
  /** The vendor's own API renamed the field; compatible servers know the old name. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Whether the server accepts the option for counts in a stream. */
  streamOptions: boolean
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

/** Another form to try after a refusal with these words; undefined when they are about something else. */
export function adaptDialect(dialect: LlmoDialect, message: string): LlmoDialect | undefined {
  if (dialect.streamOptions && message.includes('stream_options')) return { ...dialect, streamOptions: false }
  const other = dialect.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  return message.includes('max_completion_tokens') || message.includes(`'max_tokens'`)
    ? { ...dialect, maxTokensField: other }
    : undefined
}
