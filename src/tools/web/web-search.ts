// web_search: queries the configured backend and returns the results, or why there are none (BUILT-002, BUILT-003,
// BUILT-019).

import { z } from 'zod'
import { type JsonObject, tryParseJson } from '../../contract/schema/json.ts'
import { type Availability, type AvailabilityContext, defineTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { requestWithin } from './bounded-request.ts'
import { findMissingSetting, type SearchResult, searchBackends } from './search-backends.ts'

const timeoutMs = 30_000
const largestBody = 2 * 1_048_576
const longestSnippet = 1000

export const webSearch = defineTool({
  name: 'web_search',
  description: 'Searches the web; gives titles, addresses and snippets.',
  parameters: z.strictObject({
    query: z.string().trim().min(1).max(1000),
    limit: z.int().min(1).max(20).default(5),
  }),
  repeatable: true,
  check: checkSearch,
  async run({ query, limit }, context, signal) {
    const state = await checkSearch(context)
    if (!state.available || context.search === undefined) return failUnconfigured(state)
    const backend = searchBackends[context.search.backend]
    const request = backend.buildRequest({ query, limit, settings: context.search })
    const bounds = { maxBytes: largestBody, timeoutMs, maxRedirects: 3 }
    // The address is a setting of the service: a search engine in the private network is normal.
    const policy = { ...context.egressPolicy, trusted: new URL(request.url).origin }
    const answer = await requestWithin(context.egress, { ...request, ...bounds, policy }, signal)
    if (answer === 'timeout') return failTool('timeout', `the search backend did not answer in ${timeoutMs / 1000} s`)
    if (answer.status < 200 || answer.status > 299) return failStatus(answer.status)
    const found = readResults(answer.body.toString('utf8'), backend.pickItems)
    if (found === undefined)
      return failTool('upstream_error', 'the answer of the search backend is not a list of results')
    return { success: true, query, results: found.slice(0, limit) }
  },
})

async function checkSearch({ search }: AvailabilityContext): Promise<Availability> {
  if (search === undefined) return describeUnconfigured('no search backend is set')
  const missing = findMissingSetting(search)
  return missing === undefined ? { available: true } : describeUnconfigured(`${search.backend} needs ${missing}`)
}

function describeUnconfigured(reason: string) {
  const suggestion =
    'Set SVC_SEARCH_BACKEND to searxng, brave, tavily or json, with SVC_SEARCH_URL and SVC_SEARCH_API_KEY as it needs; ' +
    'until then, use web_fetch with a known address or answer without a search.'
  return { available: false, reason: `web_search is not configured: ${reason}`, suggestion } as const
}

function failUnconfigured(state: Availability) {
  return state.available
    ? failTool('not_configured', 'web_search is not configured')
    : failTool('not_configured', state.reason, state.suggestion)
}

function failStatus(status: number) {
  if (status === 401 || status === 403) {
    return failTool('not_configured', `the search backend refused the key (${status})`, 'Check SVC_SEARCH_API_KEY.')
  }
  if (status === 429) return failTool('rate_limited', 'the search backend accepts no more requests for now (429)')
  return failTool('upstream_error', `the search backend answered ${status}`)
}

function readResults(body: string, pickItems: (json: unknown) => unknown): SearchResult[] | undefined {
  const items = pickItems(tryParseJson(body))
  if (!Array.isArray(items)) return undefined
  return items.flatMap((item) => readResult(item as JsonObject))
}

function readResult(item: JsonObject | null): SearchResult[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const url = text(item?.url) || text(item?.link)
  if (item === null || url === '') return []
  const snippet = text(item.snippet) || text(item.content) || text(item.description)
  return [{ title: text(item.title), url, snippet: snippet.slice(0, longestSnippet) }]
}
