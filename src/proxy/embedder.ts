// Asks a provider of the llmo family for vectors of texts, with the provider's own key.
import { z } from 'zod'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { parseForeignJson } from '../contract/schema/foreign-json.ts'
import { SvcError } from '../errors.ts'
import { readVendorRefusal } from '../llm/call/vendor-error.ts'
import { type Cost, computeCost, countTextTokens, readNestedCount } from '../llm/messages/token-usage.ts'
import { assignProvider } from '../lookup/models.ts'
import { createRedactor } from '../observability/redaction.ts'
import type { UsageRecord } from '../ports/budgets/usage.ts'
import type { Embedder } from '../ports/memory/vectors.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { findPrice } from '../rules/budgets/budget.ts'
import { normalizeVector } from '../rules/memory/vectors.ts'
import { nameProviderIn } from '../usecases/providers/estimated-tokens.ts'
import { policyOf } from '../usecases/providers/models.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { credentialHeaders, endpointUrlOf } from './target.ts'

/** Texts of one request, and UTF-16 code units of each that are sent: the beginning says what a text is about. */
export const embedderLimits = { texts: 64, textLength: 8000, timeoutMs: 30_000, dimension: 8192 } as const

const maxBytes = 64 * 1_048_576
const maxRefusalLength = 65_536

type EmbedderDeps = {
  ports: Pick<UsecaseDeps['ports'], 'resources' | 'secrets' | 'egress' | 'clock' | 'ids'> & {
    records: Pick<UsecaseDeps['ports']['records'], 'usage'>
  }
} & {
  settings: Pick<UsecaseDeps['settings'], 'allowNetworks' | 'ownAddresses'>
}

const Answer = z.object({
  data: z.array(
    z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1).max(embedderLimits.dimension) }),
  ),
  usage: z.unknown().optional(),
})

type Made = { vectors: (Float32Array | undefined)[]; inputTokens: number | undefined }

/** The vectors in the order of the texts, all of one dimension. */
function readVectors(text: string, count: number): Made | undefined {
  const json = parseForeignJson(text)
  const parsed = Answer.safeParse(json)
  if (!parsed.success) return undefined
  const byIndex = new Map(parsed.data.data.map(({ index, embedding }) => [index, embedding]))
  const vectors = Array.from({ length: count }, (_, at) => byIndex.get(at))
  const isWhole = new Set(vectors.map((vector) => vector?.length ?? 0)).size === 1 && byIndex.size === count
  if (!isWhole) return undefined
  const inputTokens = readNestedCount(parsed.data.usage, 'prompt_tokens')
  return { vectors: vectors.map((vector) => normalizeVector(vector ?? [])), inputTokens }
}

type EmbeddingCall = ResourceKey & { model: string }

type Use = { spec: Provider['spec']; namespace: string; texts: readonly string[]; inputTokens: number | undefined }

/** What a vendor did not count is estimated. A use that cannot be recorded costs no vector. */
async function recordUse(
  { ports: { records, ids, clock } }: EmbedderDeps,
  { model, ...provider }: EmbeddingCall,
  { spec, namespace, texts, inputTokens }: Use,
): Promise<void> {
  const price = findPrice(spec, model)
  const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  const isCounted = inputTokens !== undefined
  const tokens = isCounted ? inputTokens : texts.reduce((sum, text) => sum + countTextTokens(text), 0)
  const cost = computeCost({ ...none, inputTokens: tokens }, price)
  const record: UsageRecord = {
    id: ids.next('use'),
    namespace,
    provider: nameProviderIn(namespace, provider),
    model,
    ...none,
    ...(isCounted ? { inputTokens, ...cost } : { estimatedInputTokens: tokens, ...estimateOf(cost) }),
    demo: false,
    createdAt: clock.now().toISOString(),
  }
  await records.usage.record([record]).catch(() => undefined)
}

function estimateOf(cost: Cost | undefined): Partial<UsageRecord> {
  return cost === undefined ? {} : { cost: 0, currency: cost.currency, estimatedCost: cost.cost }
}

async function ask(
  deps: EmbedderDeps,
  call: EmbeddingCall,
  { texts, signal, namespace }: { texts: readonly string[]; signal: AbortSignal; namespace: string },
): Promise<(Float32Array | undefined)[]> {
  const { ports, settings } = deps
  const { model, ...key } = call
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
    const made = readVectors(text, texts.length)
    if (made !== undefined) {
      await recordUse(deps, call, { spec: found.spec, namespace, texts: input, inputTokens: made.inputTokens })
      return made.vectors
    }
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
    embed: (texts, signal, namespace = call.namespace) => ask(deps, call, { texts, signal, namespace }),
  }
}
