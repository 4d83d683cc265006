// The search backends: how to query each one, and where its results are in the answer.
import type { SearchSettings } from '../registry/tool.ts'

export type SearchResult = { title: string; url: string; snippet: string }
type SearchQuery = { query: string; limit: number; settings: SearchSettings }
type SearchRequest = { url: string; method: string; headers: Record<string, string>; body?: string }

type SearchBackend = {
  /** Used when no address is configured. */
  standardUrl?: string
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
    const base = (settings.url ?? '').replace(/\/+$/, '')
    const url = withQuery(base.endsWith('/search') ? base : `${base}/search`, { q: query, format: 'json' })
    return { url, method: 'GET', headers: { accept, ...bearer(settings.apiKey) } }
  },
  pickItems: (json) => pick(json, 'results'),
}

/** https://api-dashboard.search.brave.com/app/documentation/web-search */
const brave: SearchBackend = {
  standardUrl: 'https://api.search.brave.com/res/v1/web/search',
  needsKey: true,
  buildRequest({ query, limit, settings }) {
    const url = withQuery(settings.url ?? this.standardUrl ?? '', { q: query, count: limit })
    return { url, method: 'GET', headers: { accept, 'x-subscription-token': settings.apiKey ?? '' } }
  },
  // No `web` in the answer means that nothing was found.
  pickItems: (json) =>
    pick(json, 'type') === 'search' ? (pick(json, 'web', 'results') ?? []) : pick(json, 'web', 'results'),
}

/** https://docs.tavily.com/documentation/api-reference/endpoint/search */
const tavily: SearchBackend = {
  standardUrl: 'https://api.tavily.com/search',
  needsKey: true,
  buildRequest({ query, limit, settings }) {
    const headers = { accept, 'content-type': 'application/json', ...bearer(settings.apiKey) }
    const body = JSON.stringify({ query, max_results: limit })
    return { url: settings.url ?? this.standardUrl ?? '', method: 'POST', headers, body }
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

export const searchBackends: Record<SearchSettings['backend'], SearchBackend> = { searxng, brave, tavily, json }

/** The setting that the chosen backend lacks. */
export function findMissingSetting(settings: SearchSettings): string | undefined {
  const backend = searchBackends[settings.backend]
  const url = settings.url ?? backend.standardUrl
  if (url === undefined) return 'SVC_SEARCH_URL'
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return 'an http or https address in SVC_SEARCH_URL'
  return backend.needsKey && !settings.apiKey ? 'SVC_SEARCH_API_KEY' : undefined
}
