// What a vendor really offers, asked of it and kept for a minute. A vendor that does not say offers nothing here.
import { createCatalogMemory } from '../catalog/memory.ts'
import { assignProvider } from '../catalog/models.ts'
import type { Provider } from '../contract/resources/provider.ts'
import { parseForeignObject } from '../llm/foreign-json.ts'
import type { UsecaseDeps } from '../usecases/deps.ts'
import { policyOf } from '../usecases/providers/models.ts'
import { credentialHeaders, defaultVersion, urlOf } from './target.ts'

export type OfferedModels = {
  /** The vendor's own names, in its order. */
  list(provider: Provider): Promise<string[]>
  close(): void
}

const keptMs = 60_000
const timeoutMs = 5000
const maxBytes = 4 * 1_048_576
/** Aggregators offer several hundred. */
const mostModels = 1000
const longestName = 256

function readNames(body: Buffer): string[] {
  const data = parseForeignObject(body.toString('utf8'))?.data
  if (!Array.isArray(data)) return []
  const names = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id)
  const known = names.filter(
    (name): name is string => typeof name === 'string' && name !== '' && name.length <= longestName,
  )
  return [...new Set(known)].slice(0, mostModels)
}

function headersFor(provider: Parameters<typeof credentialHeaders>[0]): Record<string, string> {
  const flat = credentialHeaders(provider)
  const credential = Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])))
  return {
    accept: 'application/json',
    ...credential,
    ...(provider.type === 'llma' && { 'anthropic-version': defaultVersion }),
  }
}

export function createOfferedModels({ ports, settings }: Pick<UsecaseDeps, 'ports' | 'settings'>): OfferedModels {
  const memory = createCatalogMemory(ports, { kinds: ['Provider'], longestMs: keptMs })
  const cache = memory.createCache<string[]>()

  async function ask(provider: Provider): Promise<string[]> {
    const assigned = await assignProvider(ports, provider)
    const policy = policyOf({ provider: assigned, model: '' }, settings)
    const url = urlOf(assigned, 'models')
    // Its pages are of twenty models; the others of the family know no pages.
    if (assigned.type === 'llma') url.searchParams.set('limit', String(mostModels))
    const request = {
      url: url.href,
      method: 'GET',
      headers: headersFor(assigned),
      maxBytes,
      timeoutMs,
      maxRedirects: 0,
      policy,
    }
    const { status, body } = await ports.egress.request(request, AbortSignal.timeout(timeoutMs))
    return status === 200 ? readNames(body) : []
  }

  return {
    async list(provider) {
      const { type, azure } = provider.spec
      // The demo provider is no vendor, and Azure lists models apart from what is deployed.
      if (type === 'demo' || azure !== undefined) return []
      const { namespace, name } = provider.metadata
      return cache.get(`${namespace}/${name}`, { namespace, load: () => ask(provider).catch(() => []) })
    },
    close: memory.close,
  }
}
