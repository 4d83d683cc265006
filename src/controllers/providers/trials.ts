// Tries providers: at once when one is made, or what its calls are made with changes; then less and less often.
import { createHash } from 'node:crypto'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { assignProvider, explainUnassigned, providersTriedAtOnce } from '../../lookup/models.ts'
import type { ProviderTrial } from '../../ports/providers/provider-state.ts'
import {
  type Controller,
  createPushSource,
  defineController,
  formatKey,
  type KeySource,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { createKindSource } from '../engine/kind-source.ts'
import {
  createReferenceIndex,
  createSecretSource,
  nameReference,
  type ReferenceIndex,
} from '../resources/object-source.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'

/** The last trial of a provider. */
export type Tried = ProviderTrial & {
  /** What its calls are made with: another one was tried when this differs. */
  subject: string
  at: Date
  /** When that was seen to have changed; absent: not while this replica leads. */
  changedAt?: Date
}

export type ProviderTrials = {
  controller: Controller
  /** Adds the keys of providers that were tried. */
  source: KeySource
  find(key: string): Tried | undefined
}

const firstRetryMs = 30_000
const maxPauseMs = 3_600_000
/** Between two providers that were tried before this replica led. */
const spacingMs = 100

type Entry = Tried & { nextAt: Date; pauseMs: number }

/** What calls of the provider are made with: its key is read once. */
export type Subject = {
  /** Of the key and all else; why calls cannot be made is part of it. */
  digest: string
  /** Why they cannot be made. */
  problem: string | undefined
}

export async function readSubject(deps: Pick<ResourceControllerDeps, 'secrets'>, provider: Provider): Promise<Subject> {
  const assigned = await assignProvider(deps, provider).catch((error) => ({ problem: explainUnassigned(error) }))
  const { rateLimit: _limit, problem, ...rest } = { rateLimit: undefined, problem: undefined, ...assigned }
  const digest = createHash('sha256')
    .update(JSON.stringify({ problem, ...rest }))
    .digest('base64url')
  return { digest, problem }
}

export function listProviderReferences({ metadata, spec }: Provider): string[] {
  return spec.secretRef === undefined ? [] : [nameReference('Secret', metadata.namespace, spec.secretRef.name)]
}

/** Whether this is the first time that anybody looks at the provider as it is. */
function isNew({ metadata, status }: Provider): boolean {
  return status?.observedGeneration !== metadata.generation || status.ready === undefined
}

/** After a start those that a former leader has tried come one after another: hundreds of them do not flood it. */
function createProviderSource(deps: ResourceControllerDeps, index: ReferenceIndex): KeySource {
  let waiting = 0
  return createKindSource({
    kind: 'Provider',
    resources: deps.resources,
    clock: deps.clock,
    onFirst() {
      waiting = 0
    },
    resync: [],
    onObject({ type, object }, enqueue) {
      const key = formatKey(object.metadata)
      if (type === 'DELETED') index.remove(key)
      else index.set(key, listProviderReferences(object))
      if (type !== 'LISTED' || isNew(object)) return enqueue(key)
      enqueue(key, waiting * spacingMs)
      waiting += 1
    },
  })
}

/** Whether somebody has reached it since it could not be used. */
function wasReached({ status }: Provider, { at, fault }: Entry): boolean {
  return fault !== undefined && status?.ready === false && Date.parse(status.lastReached ?? '') > at.getTime()
}

function choosePause(checkIntervalMs: number, trial: ProviderTrial, before: Entry | undefined): number {
  const first = trial.fault === undefined ? checkIntervalMs : Math.min(firstRetryMs, checkIntervalMs)
  const isSame = before !== undefined && before.fault?.reason === trial.fault?.reason
  return isSame ? Math.min(maxPauseMs, before.pauseMs * 2) : first
}

export function createProviderTrials(deps: ResourceControllerDeps): ProviderTrials {
  const { resources, clock, settings, tryProvider } = deps
  const index = createReferenceIndex()
  const tried = createPushSource('trials')
  const entries = new Map<string, Entry>()

  function note(key: string, trial: ProviderTrial, subject: string): Entry {
    const at = clock.now()
    const before = entries.get(key)
    const isChanged = before !== undefined && before.subject !== subject
    const pauseMs = choosePause(settings.checkIntervalMs, trial, isChanged ? undefined : before)
    const changedAt = isChanged ? at : before?.changedAt
    const entry = { ...trial, subject, at, pauseMs, nextAt: new Date(at.getTime() + pauseMs) }
    entries.set(key, changedAt === undefined ? entry : { ...entry, changedAt })
    return entry
  }

  async function reconcile(key: string, signal: AbortSignal): Promise<Reconciled> {
    const provider = await resources.get('Provider', parseKey(key))
    if (provider === undefined) {
      entries.delete(key)
      return undefined
    }
    const { digest: subject } = await readSubject(deps, provider)
    const before = entries.get(key)
    const isCurrent = before?.subject === subject && !wasReached(provider, before)
    const leftMs = isCurrent ? before.nextAt.getTime() - clock.now().getTime() : 0
    if (leftMs > 0) return { requeueAfterMs: leftMs }
    const entry = note(key, await tryProvider(provider, signal), subject)
    tried.push(key)
    return { requeueAfterMs: entry.pauseMs }
  }

  const controller = defineController({
    name: 'provider-trials',
    sources: [createProviderSource(deps, index), createSecretSource(deps, index)],
    // Those that do not answer hold a slot for some seconds each.
    concurrency: providersTriedAtOnce,
    begin() {
      index.clear()
      entries.clear()
    },
    reconcile,
  })
  return { controller, source: tried, find: (key) => entries.get(key) }
}
