// web_search: queries the configured backend and returns the results, or why there are none (BUILT-002, BUILT-003,
// BUILT-019).
import { z } from 'zod'
import { type JsonObject, tryParseJson } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { type Availability, type AvailabilityContext, defineTool, type SearchSettings } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { requestWithin } from './bounded-request.ts'

type SearchResult = { title: string; url: string; snippet: string }
type SearchQuery = { query: string; limit: number; settings: SearchSettings }
type SearchRequest = { url: string; method: string; headers: Record<string, string>; body?: string }

type SearchBackend = {
  /** Used when no address is configured. */
  defaultUrl?: string
  needsKey: boolean
  buildRequest(query: SearchQuery): SearchRequest
  pickItems(json: unknown): unknown
}

const accept = 'application/json'

function withQuery(base: string, query: Record<string, string | number>): string {
  const url = new URL(base)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  return url.href
}

function bearer(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` }
}

/** `pick(json, 'web', 'results')` is json.web.results, or undefined. */
function pick(json: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    json,
  )
}

/** https://docs.searxng.org/dev/search_api.html: its `formats` setting must allow json. */
const searxng: SearchBackend = {
  needsKey: false,
  buildRequest({ query, settings }) {
    const base = trimTrailing(settings.url ?? '', '/')
    const url = withQuery(base.endsWith('/search') ? base : `${base}/search`, { q: query, format: 'json' })
    return { url, method: 'GET', headers: { accept, ...bearer(settings.apiKey) } }
  },
  pickItems: (json) => pick(json, 'results'),
}

/** https://api-dashboard.search.brave.com/app/documentation/web-search */
const brave: SearchBackend = {
  defaultUrl: 'https://api.search.brave.com/res/v1/web/search',
  needsKey: true,
  buildRequest({ query, limit, settings }) {
    const url = withQuery(settings.url ?? this.defaultUrl ?? '', { q: query, count: limit })
    return { url, method: 'GET', headers: { accept, 'x-subscription-token': settings.apiKey ?? '' } }
  },
  // No `web` in the answer means that nothing was found.
  pickItems: (json) =>
    pick(json, 'type') === 'search' ? (pick(json, 'web', 'results') ?? []) : pick(json, 'web', 'results'),
}

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
const tavily: SearchBackend = {
  defaultUrl: 'https://api.tavily.com/search',
  needsKey: true,
  buildRequest({ query, limit, settings }) {
    const headers = { accept, 'content-type': 'application/json', ...bearer(settings.apiKey) }
    const body = JSON.stringify({ query, max_results: limit })
    return { url: settings.url ?? this.defaultUrl ?? '', method: 'POST', headers, body }
  },
  pickItems: (json) => pick(json, 'results'),
}

/** Any endpoint that takes `q` and `limit` and returns a list, or one under `results` or `items`. */
const json: SearchBackend = {
  needsKey: false,
  buildRequest({ query, limit, settings }) {
    const url = withQuery(settings.url ?? '', { q: query, limit })
    return { url, method: 'GET', headers: { accept, ...bearer(settings.apiKey) } }
  },
  pickItems: (answer) => (Array.isArray(answer) ? answer : (pick(answer, 'results') ?? pick(answer, 'items'))),
}

const searchBackends: Record<SearchSettings['backend'], SearchBackend> = { searxng, brave, tavily, json }

/** The setting that the chosen backend lacks. */
function findMissingSetting(settings: SearchSettings): string | undefined {
  const backend = searchBackends[settings.backend]
  const url = settings.url ?? backend.defaultUrl
  if (url === undefined) return 'SVC_SEARCH_URL'
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return 'an http or https address in SVC_SEARCH_URL'
  return backend.needsKey && !settings.apiKey ? 'SVC_SEARCH_API_KEY' : undefined
}

const timeoutMs = 30_000
const maxBodyBytes = 2 * 1_048_576
const maxSnippetLength = 1000

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
    const bounds = { maxBytes: maxBodyBytes, timeoutMs, maxRedirects: 3 }
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
  return [{ title: text(item.title), url, snippet: snippet.slice(0, maxSnippetLength) }]
}
