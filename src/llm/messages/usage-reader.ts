// Reads the token counts of an answer, whatever names its vendor gives them: the one reader of the loop, of what is passed
// through, and of the responses API.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { TokenUsage } from './messages.ts'
import { readTokenCount } from './token-usage.ts'

/** Where each count may stand in an object of counts; a dot leads into an object. The first count above zero is taken. */
const spellings = {
  input: [
    'prompt_tokens',
    'input_tokens',
    'promptTokens',
    'inputTokens',
    'promptTokenCount',
    'prompt_token_count',
    'inputTokenCount',
  ],
  output: [
    'completion_tokens',
    'output_tokens',
    'completionTokens',
    'outputTokens',
    'candidatesTokenCount',
    'candidates_token_count',
    'outputTokenCount',
  ],
  /** Read from a cache, and part of the input. */
  cached: [
    'prompt_tokens_details.cached_tokens',
    'input_tokens_details.cached_tokens',
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'cachedContentTokenCount',
    'cached_content_token_count',
  ],
  /** Written to a cache, and part of the input. */
  written: [
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'input_tokens_details.cache_write_tokens',
    'input_tokens_details.cache_creation_tokens',
  ],
  /** The same two where `input_tokens` may not contain them. */
  readBeside: ['cache_read_input_tokens', 'cacheReadInputTokens', 'cacheReadInputTokenCount'],
  writtenBeside: ['cache_creation_input_tokens', 'cacheWriteInputTokens', 'cacheWriteInputTokenCount'],
  reasoning: [
    'completion_tokens_details.reasoning_tokens',
    'output_tokens_details.reasoning_tokens',
    'reasoning_tokens',
    'thoughtsTokenCount',
  ],
  total: ['total_tokens', 'totalTokens', 'totalTokenCount', 'total_token_count'],
} as const satisfies Record<string, readonly string[]>

/** Names of an input that does not contain what was read from a cache or written to one. */
const apartInputs = ['input_tokens', 'inputTokens', 'inputTokenCount']

/** A path leads through fields and, by number, lists. */
function follow(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as JsonObject)[step]
  }
  return found
}

const paths = memoizePaths()

function memoizePaths(): Record<string, string[]> {
  const all = Object.values(spellings).flat()
  return Object.fromEntries(all.map((spelling) => [spelling, spelling.split('.')]))
}

function countOf(counts: JsonObject, spelling: string): number | undefined {
  return readTokenCount(follow(counts, paths[spelling] ?? [spelling]))
}

function read(counts: JsonObject, what: keyof typeof spellings): number | undefined {
  let found: number | undefined
  for (const spelling of spellings[what]) {
    const count = countOf(counts, spelling)
    if (count !== undefined && count > 0) return count
    found ??= count
  }
  return found
}

/** Some vendors do not count reasoning as output, which their total shows. */
function readOutput(counts: JsonObject, input: number): number | undefined {
  const output = read(counts, 'output')
  const reasoning = read(counts, 'reasoning') ?? 0
  const isApart = reasoning > 0 && read(counts, 'total') === input + (output ?? 0) + reasoning
  return isApart ? (output ?? 0) + reasoning : output
}

/** Whether the input is counted without the part that concerns a cache: then this part is added. */
function countsApart(counts: JsonObject): boolean {
  if (read(counts, 'cached') !== undefined || isJsonObject(counts.input_tokens_details)) return false
  const named = spellings.input.find((spelling) => countOf(counts, spelling) !== undefined)
  return named !== undefined && apartInputs.includes(named)
}

/** What concerns a cache, where this report says it. */
function readCache(before: TokenUsage, counts: JsonObject) {
  const cached = read(counts, 'cached') ?? read(counts, 'readBeside')
  const written = read(counts, 'written') ?? read(counts, 'writtenBeside')
  return {
    isSilent: (cached ?? 0) + (written ?? 0) === 0,
    cachedTokens: cached ?? before.cachedTokens,
    cacheWriteTokens: written ?? before.cacheWriteTokens ?? 0,
  }
}

/**
 * The counts of a call so far, after one more report of the vendor, which counts from its beginning. What it leaves out, or
 * counts as zero after it was more, stays as it was.
 */
export function readUsage(before: TokenUsage, counts: JsonObject): TokenUsage {
  const fresh = read(counts, 'input') ?? 0
  const outputTokens = readOutput(counts, fresh) || before.outputTokens
  const { isSilent, cachedTokens, cacheWriteTokens } = readCache(before, counts)
  if (fresh === 0 && isSilent) return { ...before, outputTokens }
  const aside = cachedTokens + cacheWriteTokens
  const inputTokens = countsApart(counts) ? fresh + aside : Math.max(fresh, aside)
  return { inputTokens, outputTokens, cachedTokens, ...(cacheWriteTokens > 0 && { cacheWriteTokens }) }
}

/** Where a frame or a whole answer may hold its counts. */
const locations = [
  [],
  ['message'],
  ['response'],
  ['delta'],
  ['choices', '0'],
  ['choices', '0', 'delta'],
  ['choices', '0', 'message'],
  ['x_groq'],
] as const
const names = ['usage', 'usageMetadata', 'usage_metadata'] as const

function isCounted(counts: JsonObject): boolean {
  return (read(counts, 'input') ?? 0) > 0 || (read(counts, 'output') ?? 0) > 0
}

/** The counts in a frame or a whole answer; those that count something come before those that do not. */
export function findUsage(frame: unknown): JsonObject | undefined {
  let empty: JsonObject | undefined
  for (const location of locations) {
    const counts = readCounts(follow(frame, location))
    if (counts !== undefined && isCounted(counts)) return counts
    empty ??= counts
  }
  return empty
}

function readCounts(part: unknown): JsonObject | undefined {
  if (!isJsonObject(part)) return undefined
  const name = names.find((one) => isJsonObject(part[one]))
  return name && (part[name] as JsonObject)
}
