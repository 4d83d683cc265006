// Reports how the run's providers answer when usage does not show it: when calls start to fail, and when they recover
// (PROV-011).
import { type CallsReport, mostFailures } from '../../contract/api/tasks/internal.ts'
import type { Clock } from '../../lib/clock.ts'
import { judgeCall } from '../../llm/call/call-verdict.ts'
import type { EndedCall } from '../../llm/call/router.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'

export type CallReports = {
  /** Neither throws nor waits: a report never delays or fails a run. */
  note(call: EndedCall): void
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
const longestReason = 1000

const nothing: CallsReport = { answered: false, failures: 0 }

/** Failures before an answer no longer count. */
function addUp(older: CallsReport, newer: CallsReport): CallsReport {
  if (newer.answered) return newer
  const reason = newer.reason ?? older.reason
  return {
    answered: older.answered,
    failures: Math.min(older.failures + newer.failures, mostFailures),
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
    sentAt = clock.now().getTime()
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
    if (isUrgent || clock.now().getTime() >= sentAt + everyMs) sending ??= sendAll()
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

  function find(provider: ResourceKey): ProviderReports {
    const name = `${provider.namespace}/${provider.name}`
    const known = byName.get(name) ?? createProviderReports(provider, options)
    byName.set(name, known)
    return known
  }

  function describe(reason: string): string {
    return options.redact(reason).slice(0, longestReason).toWellFormed() || 'no reason was given'
  }

  return {
    note({ provider, error }) {
      const verdict = judgeCall(error)
      if (verdict === 'answered') find(provider).noteAnswer()
      else if (verdict === 'failed') find(provider).noteFailure(describe(error?.message ?? ''))
    },
    async settle() {
      await Promise.all([...byName.values()].map((reports) => reports.settle()))
    },
  }
}
