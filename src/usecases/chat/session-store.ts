// Writes a turn into its session, and keeps the session within its size.

import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { RememberedModel, Sessions } from '../../ports/sessions.ts'
import type { UsageRecord } from '../../ports/usage.ts'
import type { Counted } from '../budgets/ledger.ts'
import type { UsecaseDeps } from '../deps.ts'
import { measureTranscript, truncateTranscript } from './history.ts'
import type { Recorder } from './recorder.ts'
import type { Ending, TurnParts } from './turn-parts.ts'

/** A session that was cut has room for some turns before it is cut again. */
const keptShare = 0.75

/** What one model call used, for its record, and as the ledger has it already. */
export type CountedCall = { record: Omit<UsageRecord, 'createdAt'>; counted: Counted }

type Stored = Ending & { recorder: Recorder; usage: CountedCall[]; closing: string }

/** Stores what is left of the turn and lets the session go. What went wrong, as an error for the caller. */
export async function storeTurn(deps: UsecaseDeps, parts: TurnParts, turn: Stored): Promise<SvcError | undefined> {
  const { records } = deps.ports
  const { hold, settings, choices } = parts
  const messages = turn.recorder.close(turn.closing)
  const { inputTokens = 0, outputTokens = 0 } = turn.state?.usage ?? {}
  const isLarge = turn.historyBytes + measureTranscript(messages) > settings.maxSessionBytes * keptShare
  const compact = isLarge ? () => compactSession(records.sessions, hold.key, settings.maxSessionBytes) : undefined
  try {
    // Asked for together, they are one commit where the store has it.
    await Promise.all([
      hold.finish(messages, { usage: { inputTokens, outputTokens }, answeredBy: rememberFirst(choices) }, compact),
      recordUsage(deps, turn.usage),
    ])
    return undefined
  } catch (error) {
    if (isSvcError(error)) return error
    return new SvcError('Internal', `the turn could not be stored: ${messageOf(error)}`, { cause: error })
  }
}

/** Under the time of the writing: budgets look for what is new by it. */
async function recordUsage({ ports: { records, clock }, ledger }: UsecaseDeps, usage: CountedCall[]): Promise<void> {
  if (usage.length === 0) return
  const createdAt = clock.now().toISOString()
  await records.usage.record(usage.map(({ record }) => ({ ...record, createdAt })))
  for (const { counted } of usage) ledger.settle(counted)
}

/** What was asked first: a fallback stands in for a turn, and not for the conversation. */
function rememberFirst([first]: TurnParts['choices']): RememberedModel | undefined {
  return first && { namespace: first.provider.namespace, name: first.provider.name, model: first.model }
}

/** Drops the oldest exchanges after the first user message, if the session is over its size (SESS-004, SESS-009). */
async function compactSession(sessions: Sessions, key: TurnParts['hold']['key'], maxBytes: number): Promise<void> {
  const all = await sessions.transcript(key)
  if (measureTranscript(all) <= maxBytes) return
  const kept = truncateTranscript(all, Math.floor(maxBytes * keptShare))
  const first = all.findIndex((message) => message.role === 'user')
  const head = first === -1 ? [] : all.slice(first, first + 1)
  const oldest = kept[head.length]
  if (oldest === undefined) return
  await sessions.compact(key, oldest.id - 1, head)
}
