// The client of one provider choice: its vendor's codec, address, key and egress policy, or the error that is known without a call.
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Clock } from '../../lib/clock.ts'
import { createRedactor } from '../../observability/redaction.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Egress, EgressPolicy } from '../../ports/service/egress.ts'
import { createLlmaClient, vendorAddress as llmaAddress } from '../llma/client.ts'
import { createLlmoClient, vendorAddress as llmoAddress } from '../llmo/client.ts'
import { dialectsOf } from '../llmo/dialect.ts'
import type { ModelError } from '../messages/messages.ts'
import { vendorOriginOf } from '../messages/seal.ts'
import type { ModelClient } from './model-client.ts'
import { createPipedFetch, type VendorFetch } from './piped-fetch.ts'
import { withStructuredOutput } from './structured-output.ts'
import { makeModelError, type UnknownKind } from './vendor-error.ts'
import type { VendorClientOptions } from './vendor-request.ts'

export type ProviderClientDeps = {
  /** Absent: every call uses fetch. */
  egress: Pick<Egress, 'fetchWith'> & Partial<Pick<Egress, 'openPipe'>>
  /** Which addresses this provider may have: its own allowed hosts, and whether its address is trusted (NET-004). */
  policyFor(choice: ModelChoice): EgressPolicy
  clock: Clock
  /** Time without data after which a call is given up. Default 300 s: some models think long before the first word. */
  idleTimeoutMs?: number
  /** Told of each word of a vendor that is not known. */
  onUnknown?: ((found: UnknownWord) => void) | undefined
}

/** A word of a vendor that is not known, and of what it is. */
export type UnknownWord = { provider: ResourceKey; kind: UnknownKind; word: string }

const defaultIdleTimeoutMs = 300_000

export function nameProvider(provider: ModelChoice['provider']): string {
  return `${provider.namespace}/${provider.name}`
}

/** The part of its egress policy for an address that the owner vouched for (NET-004). */
export function trustOf({ baseUrl, trusted }: ModelChoice['provider']): Pick<EgressPolicy, 'trusted'> {
  const origin = trusted && baseUrl !== undefined ? URL.parse(baseUrl)?.origin : undefined
  return origin === undefined ? {} : { trusted: origin }
}

function addressOf({ provider }: ModelChoice): string {
  return provider.baseUrl ?? (provider.type === 'llma' ? llmaAddress : llmoAddress)
}

/** Who makes the turns of a choice. */
export function originOfChoice(choice: ModelChoice): string {
  return vendorOriginOf(addressOf(choice), choice.model)
}

function describeTarget(choice: ModelChoice): VendorClientOptions['target'] {
  const { provider, model } = choice
  const address = addressOf(choice)
  return {
    provider: nameProvider(provider),
    model,
    // Only error messages name it.
    get host() {
      return URL.parse(address)?.host ?? address
    },
    hasKey: provider.apiKey !== undefined,
  }
}

/** What is known to fail without a call. A self-hosted server may need no key. */
function findObstacle(choice: ModelChoice): ModelError | undefined {
  const { provider, model } = choice
  if (model === '') {
    const message = `No model is named and Provider ${nameProvider(provider)} has no spec.defaultModel. Name a model, or set one there.`
    return { reason: 'MissingModel', message }
  }
  const needsKey = provider.baseUrl === undefined || provider.type === 'azure-llmo'
  return needsKey && provider.apiKey === undefined ? makeModelError('MissingApiKey', describeTarget(choice)) : undefined
}

function openFetch({ openPipe, fetchWith }: ProviderClientDeps['egress'], policy: EgressPolicy): VendorFetch {
  return openPipe === undefined ? fetchWith(policy) : createPipedFetch({ openPipe, fetchWith }, policy)
}

function createVendorClient(choice: ModelChoice, deps: ProviderClientDeps): ModelClient {
  const { type, baseUrl, apiKey, azure, namespace, name } = choice.provider
  const { onUnknown } = deps
  const options: VendorClientOptions = {
    fetch: openFetch(deps.egress, deps.policyFor(choice)),
    target: describeTarget(choice),
    dialects: dialectsOf(deps.egress),
    clock: deps.clock,
    idleTimeoutMs: deps.idleTimeoutMs ?? defaultIdleTimeoutMs,
    ...(onUnknown && { onUnknown: (kind, word) => onUnknown({ provider: { namespace, name }, kind, word }) }),
    baseUrl,
    apiKey,
    ...(azure === undefined || type !== 'azure-llmo' ? {} : { azure }),
  }
  return withStructuredOutput(type === 'llma' ? createLlmaClient(options) : createLlmoClient(options))
}

/** Vendors repeat keys in their errors. */
export function redactError(error: ModelError, { provider }: ModelChoice): ModelError {
  const redact = createRedactor(provider.apiKey === undefined ? [] : [provider.apiKey])
  return { ...error, message: redact(error.message) }
}

function failAlways(error: ModelError): ModelClient {
  return {
    call: async (_request, { take }) => take([{ type: 'error', error }]),
  }
}

/** Loaded on first use: few runs need it. */
function createLazyDemo(clock: Clock): ModelClient {
  return {
    async call(request, listener) {
      const { createDemoClient } = await import('../demo/client.ts')
      await createDemoClient({ clock }).call(request, listener)
    },
  }
}

export function createProviderClient(choice: ModelChoice, deps: ProviderClientDeps): ModelClient {
  if (choice.provider.type === 'demo') return createLazyDemo(deps.clock)
  const obstacle = findObstacle(choice)
  if (obstacle !== undefined) return failAlways(obstacle)
  return createVendorClient(choice, deps)
}
