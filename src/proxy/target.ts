// Where a request goes: a provider's address, key and rules, prepared once for many requests.
import type { ModelChoice } from '../contract/api/tasks/assignment.ts'
import type { Price } from '../contract/kinds/providers/provider.ts'
import { vendorAddress as llmaAddress, endpointUrl as llmaUrl, wireVersion } from '../llm/llma/client.ts'
import { vendorAddress as llmoAddress, endpointUrl as llmoUrl } from '../llm/llmo/client.ts'
import { createRedactor } from '../observability/redaction.ts'
import type { BucketLimit } from '../ports/providers/provider-state.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { BytePipe } from '../ports/service/egress.ts'
import { nameProviderIn } from '../usecases/providers/estimated-tokens.ts'
import type { ConversationEndpoint, Endpoint, ProxyFamily } from './types.ts'

export function isConversation(endpoint: Endpoint): endpoint is ConversationEndpoint {
  return endpoint === 'messages' || endpoint === 'chat' || endpoint === 'responses'
}

export const endpointFamilies: Record<Endpoint, ProxyFamily> = {
  messages: 'llma',
  count_tokens: 'llma',
  chat: 'llmo',
  embeddings: 'llmo',
  responses: 'llmo',
}

const endpointPaths: Record<Endpoint | 'models', string> = {
  messages: 'messages',
  count_tokens: 'messages/count_tokens',
  chat: 'chat/completions',
  embeddings: 'embeddings',
  responses: 'responses',
  models: 'models',
}

export type ProxyTarget = {
  choice: ModelChoice
  /** Providers that take over before the first byte, in order. */
  fallbacks: ProxyTarget[]
  /** Absent: no wire format of its own (the demo provider). */
  family?: ProxyFamily
  /** The provider's setting: whether the service's tools are added. */
  serverTools: boolean
  key: ResourceKey
  /** Its name in usage records and messages. */
  name: string
  model: string
  price?: Price
  rateLimit?: BucketLimit
  pipe: BytePipe
  /** Path and query of the endpoint, to which the caller's query is added. */
  pathOf(endpoint: Endpoint, query: string): string
  /** The provider's credential; names and values alternate. */
  headers: readonly string[]
  /** Removes the provider's key from a text. */
  redact(text: string): string
}

type AssignedProvider = ModelChoice['provider']

export function proxyFamilyOf(provider: AssignedProvider): ProxyFamily | undefined {
  if (provider.type === 'demo') return undefined
  return provider.type === 'llma' ? 'llma' : 'llmo'
}

/** The origin that the pipe connects to. */
export function providerAddress(provider: AssignedProvider): string {
  return provider.baseUrl ?? (provider.type === 'llma' ? llmaAddress : llmoAddress)
}

/** Names and values alternate. */
export function credentialHeaders({ type, apiKey }: AssignedProvider): string[] {
  if (apiKey === undefined) return []
  if (type === 'llma') return ['x-api-key', apiKey]
  return type === 'azure-llmo' ? ['api-key', apiKey] : ['authorization', `Bearer ${apiKey}`]
}

export function endpointUrlOf({ type, baseUrl, azure }: AssignedProvider, endpoint: Endpoint | 'models'): URL {
  const path = endpointPaths[endpoint]
  if (type === 'llma') return new URL(llmaUrl(baseUrl, path))
  const address = { baseUrl, azure }
  return new URL(llmoUrl(address, path))
}

function createPaths(provider: AssignedProvider): ProxyTarget['pathOf'] {
  const known = new Map<Endpoint, string>()
  return (endpoint, query) => {
    let path = known.get(endpoint)
    if (path === undefined) {
      const url = endpointUrlOf(provider, endpoint)
      path = `${url.pathname}${url.search}`
      known.set(endpoint, path)
    }
    if (query === '') return path
    return `${path}${path.includes('?') ? '&' : '?'}${query}`
  }
}

export type TargetParts = {
  choice: ModelChoice
  serverTools: boolean
  pipe: BytePipe
  namespace: string
  fallbacks?: ProxyTarget[]
}

export function createTarget({ choice, serverTools, pipe, namespace, fallbacks = [] }: TargetParts): ProxyTarget {
  const { provider, model } = choice
  const family = proxyFamilyOf(provider)
  return {
    choice,
    fallbacks,
    serverTools,
    key: { namespace: provider.namespace, name: provider.name },
    name: nameProviderIn(namespace, provider),
    model,
    pipe,
    pathOf: createPaths(provider),
    headers: credentialHeaders(provider),
    redact: createRedactor(provider.apiKey === undefined ? [] : [provider.apiKey]),
    family,
    price: provider.price,
    rateLimit: provider.rateLimit,
  }
}

/** The wire version for a caller of family llma that names none. */
export const defaultVersion = wireVersion
