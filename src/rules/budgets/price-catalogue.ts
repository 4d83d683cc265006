// What vendors publish as the prices of their models: facts from their price pages, each with its page and the day it was looked up.
// In US dollars for a million tokens, at the usual tier: neither batches, nor priority, nor the surcharge of very long prompts.
import type { Price } from '../../contract/kinds/providers/provider.ts'

/** Input, output, input from a cache, input written to one; a shorter row: cached input costs what other input does. */
type Row = readonly [input: number, output: number, cached?: number, written?: number]

type PriceList = { vendor: string; source: string; asOf: string; models: Record<string, Row> }

const lists: readonly PriceList[] = [
  {
    vendor: 'Anthropic',
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
    asOf: '2026-10-24',
    models: {
      'claude-fable-5-1': [10, 50, 0.25, 12.5],
      'claude-fable-5': [10, 50, 1, 12.5],
      'claude-mythos-5-1': [10, 50, 0.25, 12.5],
      'claude-mythos-5': [10, 50, 1, 12.5],
      'claude-opus-5-5': [4, 20, 0.2, 5],
      'claude-opus-5': [5, 25, 0.5, 6.25],
      'claude-opus-4-8': [5, 25, 0.5, 6.25],
      'claude-opus-4-7': [5, 25, 0.5, 6.25],
      'claude-opus-4-6': [5, 25, 0.5, 6.25],
      'claude-opus-4-5': [5, 25, 0.5, 6.25],
      'claude-opus-4-1': [15, 75, 1.5, 18.75],
      'claude-opus-4': [15, 75, 1.5, 18.75],
      'claude-opus-4-0': [15, 75, 1.5, 18.75],
      'claude-3-opus': [15, 75, 1.5, 18.75],
      'claude-sonnet-5-5': [2, 10, 0.1, 2.5],
      'claude-sonnet-5': [2, 10, 0.2, 2.5],
      'claude-sonnet-4-6': [3, 15, 0.3, 3.75],
      'claude-sonnet-4-5': [3, 15, 0.3, 3.75],
      'claude-sonnet-4': [3, 15, 0.3, 3.75],
      'claude-sonnet-4-0': [3, 15, 0.3, 3.75],
      'claude-3-7-sonnet': [3, 15, 0.3, 3.75],
      'claude-3-5-sonnet': [3, 15, 0.3, 3.75],
      'claude-haiku-5-5': [0.1, 0.5, 0.01, 0.125],
      'claude-haiku-4-5': [1, 5, 0.1, 1.25],
      'claude-3-5-haiku': [0.8, 4, 0.08, 1],
      'claude-3-haiku': [0.25, 1.25, 0.03, 0.3],
    },
  },
  {
    vendor: 'OpenAI',
    source: 'https://developers.openai.com/api/docs/pricing',
    asOf: '2026-10-26',
    models: {
      'gpt-6.1-sol': [2, 10, 0.1, 2.5],
      'gpt-6.1-terra': [1, 5, 0.05, 1.25],
      'gpt-6-astra': [10, 50, 1, 12.5],
      'gpt-6-sol': [2, 10, 0.2, 2.5],
      'gpt-6-luna': [0.1, 0.5, 0.01, 0.125],
      'gpt-5.6': [4, 20, 0.4, 5],
      'gpt-5.6-sol': [4, 20, 0.4, 5],
      'gpt-5.6-terra': [2, 12, 0.2, 2.5],
      'gpt-5.6-luna': [0.2, 1.2, 0.02, 0.25],
      'gpt-5.5': [5, 30, 0.5],
      'gpt-5.5-pro': [30, 180],
      'gpt-5.4': [2.5, 15, 0.25],
      'gpt-5.4-mini': [0.75, 4.5, 0.075],
      'gpt-5.4-nano': [0.2, 1.25, 0.02],
      'gpt-5.4-pro': [30, 180],
      'gpt-5.3-codex': [1.75, 14, 0.175],
      'gpt-5.2': [1.75, 14, 0.175],
      'gpt-5.2-codex': [1.75, 14, 0.175],
      'gpt-5.2-pro': [21, 168],
      'gpt-5.1': [1.25, 10, 0.125],
      'gpt-5.1-codex': [1.25, 10, 0.125],
      'gpt-5.1-codex-mini': [0.25, 2, 0.025],
      'gpt-5': [1.25, 10, 0.125],
      'gpt-5-codex': [1.25, 10, 0.125],
      'gpt-5-mini': [0.25, 2, 0.025],
      'gpt-5-nano': [0.05, 0.4, 0.005],
      'gpt-5-pro': [15, 120],
      'gpt-4.1': [2, 8, 0.5],
      'gpt-4.1-mini': [0.4, 1.6, 0.1],
      'gpt-4.1-nano': [0.1, 0.4, 0.025],
      'gpt-4o': [2.5, 10, 1.25],
      'gpt-4o-mini': [0.15, 0.6, 0.075],
      'gpt-4-turbo': [10, 30],
      'gpt-4': [30, 60],
      'gpt-3.5-turbo': [0.5, 1.5],
      'o4-mini': [1.1, 4.4, 0.275],
      o3: [2, 8, 0.5],
      'o3-pro': [20, 80],
      'o3-mini': [1.1, 4.4, 0.55],
      o1: [15, 60, 7.5],
      'o1-pro': [150, 600],
      'text-embedding-3-small': [0.02, 0],
      'text-embedding-3-large': [0.13, 0],
      'text-embedding-ada-002': [0.1, 0],
    },
  },
  {
    vendor: 'Google',
    source: 'https://ai.google.dev/gemini-api/docs/pricing',
    asOf: '2026-10-07',
    models: {
      // Announced to double on 2027-01-01.
      'gemini-3.8-flash': [0.75, 3.75, 0.075],
      'gemini-3.1-pro': [2, 12, 0.2],
      'gemini-3-pro': [2, 12, 0.2],
      'gemini-3.5-flash': [1.5, 9, 0.15],
      'gemini-3.5-flash-lite': [0.3, 2.5],
      'gemini-3.1-flash-lite': [0.25, 1.5],
      'gemini-3-flash': [0.5, 3, 0.05],
      'gemini-2.5-pro': [1.25, 10, 0.125],
      'gemini-2.5-flash': [0.3, 2.5, 0.03],
      'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
      'gemini-2.0-flash': [0.1, 0.4, 0.025],
      'gemini-2.0-flash-lite': [0.075, 0.3],
    },
  },
  {
    vendor: 'xAI',
    source: 'https://docs.x.ai/docs/models',
    asOf: '2026-09-21',
    models: {
      'grok-4.7': [2, 6, 0.5],
      'grok-4.6': [2, 6, 0.5],
      'grok-4.5': [2, 6, 0.5],
      'grok-4.3': [1.25, 2.5, 0.2],
      'grok-4': [3, 15, 0.75],
      'grok-3': [3, 15, 0.75],
      'grok-3-mini': [0.3, 0.5, 0.075],
    },
  },
  {
    vendor: 'Moonshot AI',
    source: 'https://platform.moonshot.ai/docs/pricing/chat',
    asOf: '2026-09-01',
    models: { 'kimi-k3': [3, 15, 0.3], 'kimi-k2.7-code': [0.95, 4, 0.19] },
  },
]

/** The price of a model as its vendor has published it. */
export type ListedPrice = { model: string; price: Price; vendor: string; source: string; asOf: string }

function toListed(model: string, row: Row, { vendor, source, asOf }: PriceList): ListedPrice {
  const [inputPerMillion, outputPerMillion, cachedInputPerMillion, cacheWritePerMillion] = row
  const price = {
    currency: 'USD',
    inputPerMillion,
    outputPerMillion,
    ...(cachedInputPerMillion !== undefined && { cachedInputPerMillion }),
    ...(cacheWritePerMillion !== undefined && { cacheWritePerMillion }),
  }
  return { model, price, vendor, source, asOf }
}

/** Every model with a published price, by vendor. */
export const priceCatalogue: readonly ListedPrice[] = lists.flatMap((list) =>
  Object.entries(list.models).map(([model, row]) => toListed(model, row, list)),
)

const byModel = new Map(priceCatalogue.map((listed) => [listed.model, listed]))

/** What vendors append to a name: the day of the version, in either spelling, or which of the versions it is. */
const versions = /[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest|preview)$/

/** By the name of the model, also with a router's `vendor/` before it and a version behind it. */
export function findListedPrice(model: string): ListedPrice | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return byModel.get(name) ?? byModel.get(name.replace(versions, ''))
}
