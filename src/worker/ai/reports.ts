// What a run reports of its model calls: the tokens of each, before anything is built on its answer, since a lost call would
// never be counted; and how its providers answer when usage does not show it (PROV-011).
import { type CallsReport, maxFailures, type UsageSubmit } from '../../contract/api/tasks/internal.ts'
import { isSvcError } from '../../errors.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { judgeCall } from '../../llm/call/cool-down.ts'
import type { ServedCall } from '../../llm/call/model-client.ts'
import type { UnknownWord } from '../../llm/call/provider-client.ts'
import type { EndedCall } from '../../llm/call/router.ts'
import type { Spending } from '../../llm/loop/loop.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { WorkerApi } from '../api.ts'

export type CallReports = {
  /** Neither throws nor waits: a report never delays or fails a run. */
  note(call: EndedCall): void
  /** A word of a vendor that is not known; each is reported once. */
  noteUnknown(found: UnknownWord): void
  /** Sends what is left, once. */
  settle(): Promise<void>
}

type Options = {
  send: (provider: ResourceKey, report: CallsReport) => Promise<void>
  redact: (text: string) => string
  clock: Pick<Clock, 'now'>
}

/** Interval of reports while a provider keeps failing. */
const everyMs = 5000
const maxReasonLength = 1000
const maxWordLength = 100
const maxWords = 50

const nothing: CallsReport = { answered: false, failures: 0 }

/** Failures before an answer no longer count. */
function addUp(older: CallsReport, newer: CallsReport): CallsReport {
  if (newer.answered) return newer
  const reason = newer.reason ?? older.reason
  return {
    answered: older.answered,
    failures: Math.min(older.failures + newer.failures, maxFailures),
    reason,
  }
}

type ProviderReports = { noteAnswer(): void; noteFailure(reason: string): void; settle(): Promise<void> }

function createProviderReports(provider: ResourceKey, { send, clock }: Options): ProviderReports {
  let news = nothing
  let isFailing = false
  let isUrgent = false
  let sentAt = Number.NEGATIVE_INFINITY
  let sending: Promise<void> | undefined

  async function sendNews(): Promise<void> {
    const report = news
    news = nothing
    isUrgent = false
    sentAt = monotonicMs(clock)
    try {
      await send(provider, report)
    } catch {
      news = addUp(report, news)
    }
  }

  /** One after another, so that the last report is the newest. */
  async function sendAll(): Promise<void> {
    do await sendNews()
    while (isUrgent)
    sending = undefined
  }

  function add(report: CallsReport, isChange: boolean): void {
    news = addUp(news, report)
    isUrgent ||= isChange
    if (isUrgent || monotonicMs(clock) >= sentAt + everyMs) sending ??= sendAll()
  }

  return {
    noteAnswer() {
      if (!isFailing) return
      isFailing = false
      add({ answered: true, failures: 0 }, true)
    },
    noteFailure(reason) {
      const isChange = !isFailing
      isFailing = true
      add({ answered: false, failures: 1, reason }, isChange)
    },
    async settle() {
      await sending
      if (news !== nothing) await sendNews()
    },
  }
}

export function createCallReports(options: Options): CallReports {
  const byName = new Map<string, ProviderReports>()
  const words = new Map<string, Promise<void>>()

  function find(provider: ResourceKey): ProviderReports {
    const name = `${provider.namespace}/${provider.name}`
    const known = byName.get(name) ?? createProviderReports(provider, options)
    byName.set(name, known)
    return known
  }

  function describe(reason: string): string {
    return options.redact(reason).slice(0, maxReasonLength).toWellFormed() || 'no reason was given'
  }

  return {
    note({ provider, error }) {
      const verdict = judgeCall(error)
      if (verdict === 'answered') find(provider).noteAnswer()
      else if (verdict === 'failed') find(provider).noteFailure(describe(error?.message ?? ''))
    },
    noteUnknown({ provider, kind, word }) {
      const plain = options.redact(word).slice(0, maxWordLength).toWellFormed()
      const key = `${provider.namespace}/${provider.name} ${kind} ${plain}`
      if (words.has(key) || words.size >= maxWords) return
      words.set(
        key,
        options.send(provider, { ...nothing, unknown: [{ kind, word: plain }] }).catch(() => {}),
      )
    },
    async settle() {
      await Promise.all(words.values())
      await Promise.all([...byName.values()].map((reports) => reports.settle()))
    },
  }
}

/** No more is spent once the service has said so. */
export type UsageReports = Spending & {
  /** Resolves when every call so far is reported. */
  settle(): Promise<void>
  /** Calls that are not reported, for whoever reports them now. */
  rest(): UsageSubmit[]
}

export function createUsageReports(api: Pick<WorkerApi, 'submitUsage'>, attempt: number): UsageReports {
  let count = 0
  let waiting: UsageSubmit[] = []
  let refusal: unknown

  function describe({ provider, model, usage, estimated, demo, brokeOff }: ServedCall): UsageSubmit {
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage
    // The service keeps ids apart by task: a repeated report of this attempt counts once.
    const id = `${attempt}-${++count}`
    const estimates = {
      estimatedInputTokens: estimated?.inputTokens ?? 0,
      estimatedOutputTokens: estimated?.outputTokens ?? 0,
    }
    const tokens = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, ...estimates }
    return { id, provider, model, ...tokens, demo, brokeOff: brokeOff === true }
  }

  async function report(call: UsageSubmit): Promise<void> {
    await api.submitUsage(call).catch((error: unknown) => {
      // The call is recorded, and what came of it may be used; the next one is not made.
      if (!isSvcError(error, 'BudgetExceeded')) throw error
      refusal = error
    })
  }

  function takeAll(): UsageSubmit[] {
    const calls = waiting
    waiting = []
    return calls
  }

  return {
    count: (call) => void waiting.push(describe(call)),
    async settle() {
      for (const call of takeAll()) await report(call)
    },
    rest: takeAll,
    require() {
      if (refusal !== undefined) throw refusal
    },
  }
}
