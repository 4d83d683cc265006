// Asks a provider of the llmo family for vectors of texts, with the provider's own key.
import { z } from 'zod'
import { parseForeignJson } from '../contract/schema/foreign-json.ts'
import { SvcError } from '../errors.ts'
import { readVendorRefusal } from '../llm/call/vendor-error.ts'
import { assignProvider } from '../lookup/models.ts'
import { createRedactor } from '../observability/redaction.ts'
import type { Embedder } from '../ports/memory/vectors.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { normalizeVector } from '../rules/memory/vectors.ts'
import { policyOf } from '../usecases/providers/models.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { credentialHeaders, endpointUrlOf } from './target.ts'

/** Texts of one request, and UTF-16 code units of each that are sent: the beginning says what a text is about. */
export const embedderLimits = { texts: 64, textLength: 8000, timeoutMs: 30_000, dimension: 8192 } as const

const maxBytes = 64 * 1_048_576
const maxRefusalLength = 65_536

type EmbedderDeps = { ports: Pick<UsecaseDeps['ports'], 'resources' | 'secrets' | 'egress' | 'clock'> } & {
  settings: Pick<UsecaseDeps['settings'], 'allowNetworks' | 'ownAddresses'>
}

const Answer = z.object({
  data: z.array(
    z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(embedderLimits.dimension) }),
  ),
})

/** The vectors in the order of the texts, all of one dimension. */
function readVectors(text: string, count: number): (Float32Array | undefined)[] | undefined {
  const parsed = Answer.safeParse(parseForeignJson(text))
  if (!parsed.success) return undefined
  const byIndex = new Map(parsed.data.data.map(({ index, embedding }) => [index, embedding]))
  const vectors = Array.from({ length: count }, (_, at) => byIndex.get(at))
  const isWhole = new Set(vectors.map((vector) => vector?.length ?? 0)).size === 1 && byIndex.size === count
  return isWhole ? vectors.map((vector) => normalizeVector(vector ?? [])) : undefined
}

type EmbeddingCall = ResourceKey & { model: string }

async function ask(
  { ports, settings }: EmbedderDeps,
  { model, ...key }: EmbeddingCall,
  { texts, signal }: { texts: readonly string[]; signal: AbortSignal },
): Promise<(Float32Array | undefined)[]> {
  const named = `provider "${key.name}" in namespace "${key.namespace}"`
  const found = await ports.resources.get('Provider', key)
  if (found === undefined) throw new SvcError('NotFound', `${named}, which makes vectors of memories, does not exist`)
  const provider = await assignProvider(ports, found)
  if (provider.type === 'llma' || provider.type === 'demo') {
    throw new SvcError('InvalidRequest', `${named} is of type ${provider.type}, which has no embeddings`)
  }
  const url = endpointUrlOf(provider, 'embeddings')
  const flat = credentialHeaders(provider)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    [flat[0] ?? 'accept']: flat[1] ?? 'application/json',
  }
  const input = texts.map((text) => text.slice(0, embedderLimits.textLength).toWellFormed() || ' ')
  const body = JSON.stringify({ model, input, encoding_format: 'float' })
  const common = { method: 'POST', headers, body, maxBytes, timeoutMs: embedderLimits.timeoutMs, maxRedirects: 0 }
  const policy = policyOf({ provider, model }, settings)
  const answer = await ports.egress.request({ ...common, url: url.href, policy }, signal)
  const text = answer.body.toString('utf8')
  if (answer.status === 200) {
    const vectors = readVectors(text, texts.length)
    if (vectors !== undefined) return vectors
    throw new SvcError('UpstreamFailed', `${named} did not answer with ${texts.length} embeddings`)
  }
  const redact = createRedactor(provider.apiKey === undefined ? [] : [provider.apiKey])
  const target = {
    provider: `${key.namespace}/${key.name}`,
    model,
    host: url.host,
    hasKey: provider.apiKey !== undefined,
  }
  const refusal = {
    status: answer.status,
    headers: new Headers(answer.headers),
    text: redact(text.slice(0, maxRefusalLength)),
  }
  const { message } = readVendorRefusal({ ...refusal, url: url.href, now: ports.clock.now() }, target)
  throw new SvcError('UpstreamFailed', redact(message))
}

/** The provider is looked up for each request: its key and address may change. */
export function createEmbedder(deps: EmbedderDeps, call: EmbeddingCall): Embedder {
  return {
    model: `${call.namespace}/${call.name}/${call.model}`,
    embed: (texts, signal) => ask(deps, call, { texts, signal }),
  }
}
