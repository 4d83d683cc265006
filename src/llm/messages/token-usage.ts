// Tokens: vendors' counts, the cost of a call by the price of its model, and estimates
// from the bytes of a text when nobody counted, which are good enough for limits and not for billing.
import type { Price } from '../../contract/kinds/providers/provider.ts'
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ContentBlock, Message, ModelEvent, ModelRequest, TokenUsage } from './messages.ts'

/** No call uses this many; a billion of these can still be added. */
export const maxTokenCount = 1e12

export function readTokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokenCount
    ? value
    : undefined
}

/** A field of an object, which may be absent. */
export function readNestedCount(value: unknown, field: string): number | undefined {
  return typeof value === 'object' && value !== null ? readTokenCount((value as JsonObject)[field]) : undefined
}

export type Cost = { cost: number; currency: string }

/** No call costs this much; a price from before there was a maximum must not spoil sums. */
const maxCost = 1e9

/**
 * Input tokens include those read from a cache and written to one. Undefined when no price is set: a currency alone is
 * none, and nothing is free unasked.
 */
export function computeCost(usage: TokenUsage, price: Price | undefined): Cost | undefined {
  if (price === undefined) return undefined
  const { currency, inputPerMillion: input = 0, outputPerMillion: output = 0 } = price
  const { cachedInputPerMillion: cached = input, cacheWritePerMillion: written = input } = price
  if (Object.keys(price).every((key) => key === 'currency' || price[key as keyof Price] === undefined)) return undefined
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
  const fresh = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens)
  const total = fresh * input + cachedTokens * cached + cacheWriteTokens * written + outputTokens * output
  return { cost: Math.min(total / 1_000_000, maxCost), currency }
}

/** For a call whose vendor did not report: what was sent, and what was streamed until it ended. */
export type EstimatedUsage = Pick<TokenUsage, 'inputTokens' | 'outputTokens'>

/** True for most languages; for English it is four characters. */
export const bytesPerToken = 4

export function countTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return block.text
    case 'tool_use':
      return block.name + (block.invalidArgs ?? JSON.stringify(block.args))
    case 'tool_result':
      return block.content
    case 'redacted_thinking':
      return block.data
    case 'opaque':
      return JSON.stringify(block.raw.json)
  }
}

export function estimateTokens(message: Message): number {
  return message.content.reduce((sum, block) => sum + countTextTokens(textOfBlock(block)), 0)
}

/** Everything that a call sends. */
export function estimateInput({ system, messages, tools }: ModelRequest): number {
  const prompt = system.reduce((sum, block) => sum + countTextTokens(block.text), 0)
  const conversation = messages.reduce((sum, message) => sum + estimateTokens(message), 0)
  return prompt + conversation + (tools.length === 0 ? 0 : countTextTokens(JSON.stringify(tools)))
}

function bytesOf(event: ModelEvent): number {
  if (event.type === 'text_delta' || event.type === 'thinking_delta') return Buffer.byteLength(event.text)
  return event.type === 'args_delta' ? Buffer.byteLength(event.json) : 0
}

export type CallWatch = {
  push(events: ModelEvent[]): void
  /** What the vendor has reported so far. */
  counted(): TokenUsage | undefined
  isAnswered(): boolean
  /**
   * What it did not report, for a call that was answered without counts or that broke off; undefined when nothing is
   * missing.
   */
  estimated(): EstimatedUsage | undefined
}

/** Follows one call from the moment it is sent. A stream without a last event has broken off. */
export function watchCall(request: ModelRequest): CallWatch {
  let counted: TokenUsage | undefined
  let bytes = 0
  let last: ModelEvent | undefined

  function isRefused(): boolean {
    return last?.type === 'error' && bytes === 0 && ruleOfCall(last.error.reason).begun !== true
  }

  return {
    push(events) {
      for (const event of events) {
        if (event.type === 'usage') counted = event.usage
        bytes += bytesOf(event)
        last = event
      }
    },
    counted: () => counted,
    isAnswered: () => last?.type === 'stop',
    estimated() {
      if (isRefused()) return undefined
      const output = Math.ceil(bytes / bytesPerToken)
      const isWhole = last?.type === 'stop'
      return findMissing(counted, estimateInput(request), isWhole ? uncounted(counted, output) : output)
    },
  }
}

/** Of a whole answer the vendor's count stands; zero beside a text is none. */
export function uncounted(counted: TokenUsage | undefined, output: number): number {
  return counted === undefined || counted.outputTokens === 0 ? output : 0
}

/** The missing counts of a call that broke off: vendors report the input first, and the output at the end. */
export function findMissing(
  counted: TokenUsage | undefined,
  input: number,
  output: number,
): EstimatedUsage | undefined {
  const inputTokens = counted === undefined || counted.inputTokens === 0 ? input : 0
  const outputTokens = Math.max(0, output - (counted?.outputTokens ?? 0))
  return inputTokens + outputTokens === 0 ? undefined : { inputTokens, outputTokens }
}
