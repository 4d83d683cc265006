// How each provider answers. A call only updates a map; observations are written to the records a moment later.
import { createBatches } from '../../lib/batching.ts'
import { judgeCall } from '../../llm/call/cool-down.ts'
import type { UnknownWord } from '../../llm/call/provider-client.ts'
import type { EndedCall } from '../../llm/call/router.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Ports } from '../../ports/index.ts'
import type { ProviderNote } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'

/** What another process observed: `failures` are those since the last answer. */
export type CallsSeen = { answered: boolean; failures: number; reason?: string | undefined }

/** Receives the outcomes of calls. No method throws or waits. */
export type HealthNotes = {
  noteEnd(call: EndedCall): void
  /** The same for several calls. */
  noteCalls(provider: ResourceKey, seen: CallsSeen): void
  /** A word of a vendor that is not known: what it means for a call is that the call has not succeeded. */
  noteUnknown(found: UnknownWord): void
}

export type ProviderHealthLog = HealthNotes & {
  /** Writes what is still pending. */
  close(): Promise<void>
}

const flushMs = 2000
/** Longest error text to keep; some vendors send whole pages. */
const maxReasonLength = 500

/** Times in milliseconds; 0: never. */
type Entry = { provider: ResourceKey; goodAt: number; failedAt: number; reason: string; failures: number }

/** By namespace, then by name, so that no call has to build a key. */
type Noted = Map<string, Map<string, Entry>>

function findEntry(noted: Noted, provider: ResourceKey): Entry {
  return noted.get(provider.namespace)?.get(provider.name) ?? addEntry(noted, provider)
}

function addEntry(noted: Noted, { namespace, name }: ResourceKey): Entry {
  const entry = { provider: { namespace, name }, goodAt: 0, failedAt: 0, reason: '', failures: 0 }
  const named = noted.get(namespace) ?? new Map<string, Entry>()
  noted.set(namespace, named.set(name, entry))
  return entry
}

/** What could not be written is older than what has arrived since. */
function putBack(noted: Noted, { provider, goodAt, failedAt, reason, failures }: Entry): void {
  const entry = findEntry(noted, provider)
  if (entry.goodAt === 0) Object.assign(entry, { goodAt, failures: entry.failures + failures })
  if (entry.failedAt === 0) Object.assign(entry, { failedAt, reason })
}

function toNote({ provider, goodAt, failedAt, reason, failures }: Entry): ProviderNote {
  const words = redactText(reason).slice(0, maxReasonLength).toWellFormed()
  return {
    provider,
    failures,
    ...(goodAt === 0 ? {} : { goodAt: new Date(goodAt) }),
    ...(failedAt === 0 ? {} : { failed: { at: new Date(failedAt), reason: words } }),
  }
}

/** The words of a vendor are not trusted: they may be long, and different each time. */
const maxWords = 200
const maxWordLength = 100

/** Reports each word once, as long as there are not too many of them. */
function createUnknownWords(report: NonNullable<HealthOptions['onUnknown']>): HealthNotes['noteUnknown'] {
  const seen = new Set<string>()
  return ({ provider, kind, word }) => {
    const plain = redactText(word).slice(0, maxWordLength).toWellFormed()
    const key = `${provider.namespace}/${provider.name} ${kind} ${plain}`
    const isNew = seen.size < maxWords && !seen.has(key)
    if (isNew) seen.add(key)
    report({ provider, kind, word: plain }, isNew)
  }
}

export type HealthOptions = {
  /** Called for each word of a vendor that is not known; `isNew`: it was not seen before. */
  onUnknown?: (found: UnknownWord, isNew: boolean) => void
}

export function createProviderHealthLog(
  { records, clock }: Pick<Ports, 'records' | 'clock'>,
  { onUnknown = () => {} }: HealthOptions = {},
): ProviderHealthLog {
  let noted: Noted = new Map()

  async function flush(): Promise<void> {
    const batch = [...noted.values()].flatMap((named) => [...named.values()])
    noted = new Map()
    if (batch.length === 0) return
    try {
      await records.providerHealth.note(batch.map(toNote))
    } catch {
      for (const entry of batch) putBack(noted, entry)
    }
  }

  const batches = createBatches({ clock, everyMs: flushMs, isEmpty: () => noted.size === 0, flush })

  function noteGood(provider: ResourceKey): void {
    const entry = findEntry(noted, provider)
    entry.goodAt = clock.now().getTime()
    entry.failures = 0
    batches.wake()
  }

  function noteFailure(provider: ResourceKey, reason: string, failures = 1): void {
    const entry = findEntry(noted, provider)
    entry.failedAt = clock.now().getTime()
    entry.reason = reason
    entry.failures += failures
    batches.wake()
  }

  return {
    noteEnd({ provider, error }) {
      const verdict = judgeCall(error)
      if (verdict === 'answered') noteGood(provider)
      else if (verdict === 'failed') noteFailure(provider, error?.message ?? '')
    },
    noteCalls(provider, { answered, failures, reason = '' }) {
      if (answered) noteGood(provider)
      if (failures > 0) noteFailure(provider, reason, failures)
    },
    noteUnknown: createUnknownWords(onUnknown),
    close: batches.close,
  }
}
