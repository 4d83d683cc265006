// Provider: is it complete, is its key there, may its address be dialled, and how did the vendor answer last.
import { type Provider, type ProviderStatus, providerProblems } from '../../contract/resources/provider.ts'
import { summarize } from '../../contract/validation.ts'
import { setCondition } from '../../rules/conditions.ts'
import { isTrustedAddress, readAllowedHosts } from '../../rules/trusted-address.ts'
import {
  type Controller,
  createListenerSource,
  defineController,
  type Reconciled,
  type Source,
} from '../engine/controller.ts'
import { formatKey, parseKey } from '../engine/key.ts'
import { createEndpointChecks, type EndpointCheck, type EndpointChecks } from './endpoint-check.ts'
import { createOwnSource, createSecretSource } from './object-source.ts'
import { createReferenceIndex, nameReference } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'
import { setReady, writeCatalogStatus } from './status.ts'

/** Calls, and cool-downs that other replicas set, are recorded without telling anybody; they are looked up this often. */
const pollMs = 30_000

function listReferences({ metadata, spec }: Provider): string[] {
  return spec.secretRef === undefined ? [] : [nameReference('Secret', metadata.namespace, spec.secretRef.name)]
}

/** Why the provider can not be used, or undefined. A missing key is told apart from a bad address (PROV-013). */
async function findProblem({ secrets }: CatalogDeps, { spec, metadata }: Provider): Promise<string | undefined> {
  const problems = providerProblems(spec)
  if (problems.length > 0) return summarize('provider', problems)
  if (spec.secretRef === undefined) return undefined
  const { name, key } = spec.secretRef
  const values = await secrets.read({ namespace: metadata.namespace, name })
  if (values === undefined) return `secret "${name}" does not exist in namespace "${metadata.namespace}"; create it`
  const value = values[key]
  return value === undefined || value === '' ? `secret "${name}" has no API key under "${key}"; add it` : undefined
}

type ProviderContext = CatalogDeps & { checks: EndpointChecks; polledAt: Map<string, Date> }

/** Dials an address that was set; the vendors' own are not called for a look. */
async function checkAddress(context: ProviderContext, provider: Provider, signal: AbortSignal) {
  const { baseURL, secretRef } = provider.spec
  if (baseURL === undefined) return undefined
  const secret = secretRef && { namespace: provider.metadata.namespace, name: secretRef.name }
  const allowedHosts = secret && readAllowedHosts((await context.secrets.describe(secret))?.annotations)
  const policy = { trusted: isTrustedAddress(provider), ...(allowedHosts && { allowedHosts }) }
  return await context.checks.check(formatKey(provider.metadata), { url: baseURL, policy }, signal)
}

/** Whether calls were answered since the last look. */
async function wasCalled(context: ProviderContext, { metadata }: Provider): Promise<boolean> {
  const key = formatKey(metadata)
  const now = context.clock.now()
  const since = context.polledAt.get(key) ?? new Date(now.getTime() - pollMs)
  context.polledAt.set(key, now)
  const sums = await context.records.usage.sum({ groupBy: 'provider', since })
  return sums.some((sum) => (sum.key === metadata.name || sum.key === key) && sum.llmCalls > 0)
}

type Contact = Pick<ProviderStatus, 'lastReached' | 'lastError' | 'coolingDownUntil'>

/** When the vendor answered last, and its last error (PROV-011). */
async function readContact(context: ProviderContext, provider: Provider, address?: EndpointCheck): Promise<Contact> {
  const { lastReached, lastError } = provider.status ?? {}
  const cooling = await context.records.rateLimits.coolingDown(provider.metadata)
  const called = await wasCalled(context, provider)
  const reachedAt = address?.state === 'reachable' ? address.at.toISOString() : undefined
  const reached = called ? context.clock.now().toISOString() : newer(lastReached, reachedAt)
  const failure = address === undefined || address.state === 'reachable' ? undefined : address.message
  // An error stays to be read until the vendor has answered again.
  const error = cooling?.reason ?? failure ?? (called ? undefined : lastError)
  return {
    ...(reached !== undefined && { lastReached: reached }),
    ...(error !== undefined && { lastError: error }),
    ...(cooling !== undefined && { coolingDownUntil: cooling.until.toISOString() }),
  }
}

function newer(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a > b ? a : b
}

function makeConditions(
  provider: Provider,
  problem: string | undefined,
  address: EndpointCheck | undefined,
  now: Date,
) {
  const reasons: [string, string] = ['ValidationSucceeded', 'ValidationFailed']
  const outcome = { problem, good: 'the provider is complete and its key is there', reasons }
  const ready = setReady(provider.status?.conditions, outcome, now)
  if (address === undefined) return ready
  const isThere = address.state === 'reachable'
  return setCondition(
    ready,
    {
      type: 'Reachable',
      status: isThere ? 'True' : 'False',
      reason: isThere ? 'Answered' : 'NotReached',
      message: isThere ? 'the address answers' : address.message,
    },
    now,
  )
}

async function reconcileProvider(context: ProviderContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const { resources, clock, settings } = context
  const provider = await resources.get('Provider', parseKey(key))
  if (provider === undefined) {
    context.checks.forget(key)
    context.polledAt.delete(key)
    return undefined
  }
  const address = await checkAddress(context, provider, signal)
  if (signal.aborted) return undefined
  const refused = address?.state === 'refused' ? address.message : undefined
  const problem = (await findProblem(context, provider)) ?? refused
  const now = clock.now()
  const validated = provider.status?.lastValidated
  const isFresh = validated !== undefined && now.getTime() - Date.parse(validated) < settings.checkIntervalMs
  const isSame = provider.status?.ready === (problem === undefined) && provider.status.message === problem
  const contact = await readContact(context, provider, address)
  await writeCatalogStatus(resources, 'Provider', provider, {
    ready: problem === undefined,
    ...(problem !== undefined && { message: problem }),
    lastValidated: isFresh && isSame ? validated : now.toISOString(),
    ...contact,
    conditions: makeConditions(provider, problem, address, now),
  })
  return { requeueAfterMs: findPause(contact, now) }
}

/** Until the next look, which the end of a cool-down does not wait for. */
function findPause({ coolingDownUntil }: Contact, now: Date): number {
  if (coolingDownUntil === undefined) return pollMs
  return Math.min(pollMs, Math.max(0, Date.parse(coolingDownUntil) - now.getTime()))
}

function createCoolDownSource({ records }: CatalogDeps): Source {
  return createListenerSource('cool-downs', (enqueue) =>
    records.rateLimits.onCoolDown((provider) => enqueue(formatKey(provider))),
  )
}

export function createProviderController(deps: CatalogDeps): Controller {
  const index = createReferenceIndex()
  const context = { ...deps, checks: createEndpointChecks(deps), polledAt: new Map<string, Date>() }
  return defineController({
    name: 'providers',
    sources: [
      createOwnSource(deps, 'Provider', index, listReferences),
      createSecretSource(deps, index),
      createCoolDownSource(deps),
    ],
    concurrency: 4,
    begin() {
      index.clear()
      context.checks.clear()
      context.polledAt.clear()
    },
    reconcile: (key, signal) => reconcileProvider(context, key, signal),
  })
}
