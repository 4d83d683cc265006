// Provider: is it complete, is its key there, and how did the vendor answer last, when it was tried and when it was
// called.
import { type Provider, providerProblems } from '../../contract/kinds/providers/provider.ts'
import type { Condition } from '../../contract/kinds/resources/metadata.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import type { TrialFault } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type ConditionChange, findCondition, setCondition } from '../../rules/resources/conditions.ts'
import {
  type Controller,
  createListenerSource,
  defineController,
  formatKey,
  type KeySource,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { createOwnSource, createReferenceIndex, createSecretSource } from '../resources/object-source.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'
import { writeResourceStatus } from '../resources/status.ts'
import { type Contact, describeCalls, findContact, findFailure, findFault, ownCalls, type Seen } from './contact.ts'
import {
  createProviderTrials,
  listProviderReferences,
  type ProviderTrials,
  readSubject,
  type Subject,
  type Tried,
} from './trials.ts'

/**
 * Notices arrive when calls start or stop failing, but perhaps not from other replicas, so the records are read this
 * often.
 */
const pollMs = 30_000

/** What is missing before any call, or undefined. Distinguishes a missing key from a bad address (PROV-013). */
function findLacking({ spec }: Provider, { problem }: Subject): string | undefined {
  const problems = providerProblems(spec)
  return problems.length > 0 ? summarizeProblems('provider', problems) : problem
}

type ProviderContext = ResourceControllerDeps & { trials: ProviderTrials }

async function gather(context: ProviderContext, provider: Provider, subject: Subject): Promise<Seen> {
  const { rateLimits, providerHealth } = context.records
  const cooling = await rateLimits.coolingDown(provider.metadata)
  const calls = ownCalls(provider, await providerHealth.read(provider.metadata))
  const last = context.trials.find(formatKey(provider.metadata))
  const tried = last?.subject === subject.digest ? last : undefined
  return { calls, tried, cooling, now: context.clock.now() }
}

type Verdict = Pick<ConditionChange, 'status' | 'reason' | 'message'>

const validationFailed = 'ValidationFailed'
const reasons: Partial<Record<TrialFault['reason'], string>> = {
  AddressRefused: validationFailed,
  MissingApiKey: validationFailed,
  Unreachable: 'NotReached',
}

/** What it was found to be last, by this replica or another; a cool-down is not a fault. */
function judge(provider: Provider, seen: Seen): Verdict {
  const fault = findFault(seen)
  if (fault?.reason === 'AddressRefused') return refuse(validationFailed, fault.message)
  const failed = findFailure(seen)
  if (failed !== undefined) return refuse('CallsFail', failed.reason)
  if (fault !== undefined) return refuse(reasons[fault.reason] ?? fault.reason, fault.message)
  if (seen.tried !== undefined) {
    return { status: 'True', reason: 'ValidationSucceeded', message: 'the provider is complete, and answers' }
  }
  return keepVerdict(provider) ?? { status: 'Unknown', reason: 'NotTried', message: 'the provider is being tried' }
}

function refuse(reason: string, message: string): Verdict {
  return { status: 'False', reason, message }
}

/** What a trial said of the provider as it is, before this replica led. */
function keepVerdict({ metadata, status }: Provider): Verdict | undefined {
  const ready = findCondition(status?.conditions, 'Ready')
  const isOfTrial = ready !== undefined && ready.reason !== validationFailed && ready.reason !== 'CallsFail'
  return isOfTrial && status?.observedGeneration === metadata.generation ? ready : undefined
}

function makeConditions(provider: Provider, { status, reason, message }: Verdict, seen: Seen) {
  const ready: ConditionChange = { type: 'Ready', status, reason, message }
  const changes = [ready, describeAddress(provider, seen.tried), describeCalls(seen.calls)]
  const known = changes.filter((change) => change !== undefined)
  return known.reduce<Condition[] | undefined>(
    (conditions, change) => setCondition(conditions, change, seen.now),
    provider.status?.conditions,
  )
}

function describeAddress({ spec }: Provider, tried: Tried | undefined): ConditionChange | undefined {
  if (tried === undefined || spec.type === 'demo') return undefined
  if (tried.status !== undefined) {
    const key = tried.status === 200 ? '' : `, with HTTP ${tried.status} when it is asked for its models`
    return { type: 'Reachable', status: 'True', reason: 'Answered', message: `the address answers${key}` }
  }
  return { type: 'Reachable', status: 'False', reason: 'NotReached', message: tried.fault?.message ?? '' }
}

async function reconcileProvider(context: ProviderContext, key: string): Promise<Reconciled> {
  const { resources, settings } = context
  const provider = await resources.get('Provider', parseKey(key))
  if (provider === undefined) return undefined
  const subject = await readSubject(context, provider)
  const seen = await gather(context, provider, subject)
  const lacking = findLacking(provider, subject)
  const verdict = lacking === undefined ? judge(provider, seen) : refuse(validationFailed, lacking)
  const { now } = seen
  const ready = verdict.status === 'Unknown' ? undefined : verdict.status === 'True'
  const message = ready === false ? verdict.message : undefined
  const validated = provider.status?.lastValidated
  const isFresh = validated !== undefined && now.getTime() - Date.parse(validated) < settings.checkIntervalMs
  const isSame = provider.status?.ready === ready && provider.status?.message === message
  const contact = findContact(provider, seen)
  await writeResourceStatus(resources, 'Provider', provider, {
    ready,
    message,
    lastValidated: isFresh && isSame ? validated : now.toISOString(),
    ...contact,
    conditions: makeConditions(provider, verdict, seen),
  })
  return { requeueAfterMs: findPause(contact, now) }
}

/** Time until the next check, which does not wait for the end of a cool-down. */
function findPause({ coolingDownUntil }: Contact, now: Date): number {
  if (coolingDownUntil === undefined) return pollMs
  return Math.min(pollMs, Math.max(0, Date.parse(coolingDownUntil) - now.getTime()))
}

function createCallSource({ records }: ResourceControllerDeps): KeySource {
  return createListenerSource('calls', (enqueue) => {
    const hear = (provider: ResourceKey) => enqueue(formatKey(provider))
    const stops = [records.rateLimits.onCoolDown(hear), records.providerHealth.onChange(hear)]
    return () => {
      for (const stop of stops) stop()
    }
  })
}

export function createProviderControllers(deps: ResourceControllerDeps): Controller[] {
  const index = createReferenceIndex()
  const trials = createProviderTrials(deps)
  const controller = defineController({
    name: 'providers',
    sources: [
      createOwnSource(deps, 'Provider', index, listProviderReferences),
      createSecretSource(deps, index),
      createCallSource(deps),
      trials.source,
    ],
    concurrency: 4,
    begin: () => index.clear(),
    reconcile: (key) => reconcileProvider({ ...deps, trials }, key),
  })
  return [trials.controller, controller]
}
