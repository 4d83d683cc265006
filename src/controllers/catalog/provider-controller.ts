// Provider: is it complete, is its key there, may its address be dialled, and how did the vendor answer last.
import { type Provider, providerProblems } from '../../contract/resources/provider.ts'
import { summarize } from '../../contract/validation.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { type ConditionChange, setCondition } from '../../rules/conditions.ts'
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
import { type Contact, describeCalls, findContact, ownCalls, type Seen } from './provider-contact.ts'
import { createReferenceIndex, nameReference } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'
import { setReady, writeCatalogStatus } from './status.ts'

/** Calls are told of when they begin or cease to fail, by other replicas perhaps not at all; they are looked up this often. */
const pollMs = 30_000

function listReferences({ metadata, spec }: Provider): string[] {
  return spec.secretRef === undefined ? [] : [nameReference('Secret', metadata.namespace, spec.secretRef.name)]
}

/** Why the provider cannot be used, or undefined. A missing key is told apart from a bad address (PROV-013). */
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

type ProviderContext = CatalogDeps & { checks: EndpointChecks }

/** Dials an address that was set; the vendors' own are not called for a look. */
async function checkAddress(context: ProviderContext, provider: Provider, signal: AbortSignal) {
  const { baseURL, secretRef } = provider.spec
  if (baseURL === undefined) return undefined
  const secret = secretRef && { namespace: provider.metadata.namespace, name: secretRef.name }
  const allowedHosts = secret && readAllowedHosts((await context.secrets.describe(secret))?.annotations)
  const trusted = isTrustedAddress(provider) ? new URL(baseURL).origin : undefined
  const policy = { ...(trusted && { trusted }), ...(allowedHosts && { allowedHosts }) }
  return await context.checks.check(formatKey(provider.metadata), { url: baseURL, policy }, signal)
}

async function gather(context: ProviderContext, provider: Provider, address: EndpointCheck | undefined): Promise<Seen> {
  const { rateLimits, providerHealth } = context.records
  const cooling = await rateLimits.coolingDown(provider.metadata)
  const calls = ownCalls(provider, await providerHealth.read(provider.metadata))
  return { calls, address, cooling, now: context.clock.now() }
}

type Problem = { reason: 'ValidationFailed' | 'NotReached' | 'CallsFail'; message: string }

/** What it was tried with: the look at its address and, unless the vendor only asked for a pause, its last calls. */
function findTrouble({ address, calls, cooling }: Seen): Problem | undefined {
  if (address?.state === 'refused') return { reason: 'ValidationFailed', message: address.message }
  if (calls?.failed !== undefined && calls.failures > 0 && cooling === undefined) {
    return { reason: 'CallsFail', message: calls.failed.reason }
  }
  return address?.state === 'unreachable' ? { reason: 'NotReached', message: address.message } : undefined
}

function makeConditions(provider: Provider, problem: Problem | undefined, { address, calls, now }: Seen) {
  const reasons: [string, string] = ['ValidationSucceeded', problem?.reason ?? 'ValidationFailed']
  const outcome = { problem: problem?.message, good: 'the provider is complete and its key is there', reasons }
  const ready = setReady(provider.status?.conditions, outcome, now)
  const changes = [describeAddress(address), describeCalls(calls)].filter((change) => change !== undefined)
  return changes.reduce((conditions, change) => setCondition(conditions, change, now), ready)
}

function describeAddress(address: EndpointCheck | undefined): ConditionChange | undefined {
  if (address === undefined) return undefined
  if (address.state !== 'reachable') {
    return { type: 'Reachable', status: 'False', reason: 'NotReached', message: address.message }
  }
  return { type: 'Reachable', status: 'True', reason: 'Answered', message: 'the address answers' }
}

async function reconcileProvider(context: ProviderContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const { resources, settings } = context
  const provider = await resources.get('Provider', parseKey(key))
  if (provider === undefined) {
    context.checks.forget(key)
    return undefined
  }
  const address = await checkAddress(context, provider, signal)
  if (signal.aborted) return undefined
  const lacking = await findProblem(context, provider)
  const seen = await gather(context, provider, address)
  const problem: Problem | undefined =
    lacking === undefined ? findTrouble(seen) : { reason: 'ValidationFailed', message: lacking }
  const { now } = seen
  const validated = provider.status?.lastValidated
  const isFresh = validated !== undefined && now.getTime() - Date.parse(validated) < settings.checkIntervalMs
  const isSame = provider.status?.ready === (problem === undefined) && provider.status.message === problem?.message
  const contact = findContact(provider, seen)
  await writeCatalogStatus(resources, 'Provider', provider, {
    ready: problem === undefined,
    ...(problem !== undefined && { message: problem.message }),
    lastValidated: isFresh && isSame ? validated : now.toISOString(),
    ...contact,
    conditions: makeConditions(provider, problem, seen),
  })
  return { requeueAfterMs: findPause(contact, now) }
}

/** Until the next look, which the end of a cool-down does not wait for. */
function findPause({ coolingDownUntil }: Contact, now: Date): number {
  if (coolingDownUntil === undefined) return pollMs
  return Math.min(pollMs, Math.max(0, Date.parse(coolingDownUntil) - now.getTime()))
}

function createCallSource({ records }: CatalogDeps): Source {
  return createListenerSource('calls', (enqueue) => {
    const hear = (provider: ResourceKey) => enqueue(formatKey(provider))
    const stops = [records.rateLimits.onCoolDown(hear), records.providerHealth.onChange(hear)]
    return () => {
      for (const stop of stops) stop()
    }
  })
}

export function createProviderController(deps: CatalogDeps): Controller {
  const index = createReferenceIndex()
  const context = { ...deps, checks: createEndpointChecks(deps) }
  return defineController({
    name: 'providers',
    sources: [
      createOwnSource(deps, 'Provider', index, listReferences),
      createSecretSource(deps, index),
      createCallSource(deps),
    ],
    concurrency: 4,
    begin() {
      index.clear()
      context.checks.clear()
    },
    reconcile: (key, signal) => reconcileProvider(context, key, signal),
  })
}
