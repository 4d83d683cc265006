// Writes a turn into its session, and keeps the session within its size limit.

import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { UsageRecord } from '../../ports/budgets/usage.ts'
import type { RememberedModel, Sessions } from '../../ports/chat/sessions.ts'
import type { Counted } from '../budgets/ledger.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { measureTranscript, truncateTranscript } from './history.ts'
import type { Recorder } from './recorder.ts'
import type { Ending, TurnParts } from './turn-parts.ts'

/** A truncated session gets room for several turns, so that it is not truncated every time. */
const keptShare = 0.75

/** What one model call used, both for its record and as already counted in the ledger. */
export type CountedCall = { record: Omit<UsageRecord, 'createdAt'>; counted: Counted }

type Stored = Ending & { recorder: Recorder; usage: CountedCall[]; closing: string }

/** Stores what is left of the turn and releases the session. Returns what went wrong as an error for the caller. */
export async function storeTurn(deps: UsecaseDeps, parts: TurnParts, turn: Stored): Promise<SvcError | undefined> {
  const { records } = deps.ports
  const { hold, settings, choices } = parts
  const messages = turn.recorder.close(turn.closing)
  const { inputTokens = 0, outputTokens = 0 } = turn.state?.usage ?? {}
  const isLarge = turn.historyBytes + measureTranscript(messages) > settings.maxSessionBytes * keptShare
  const compact = isLarge ? () => compactSession(records.sessions, hold.key, settings.maxSessionBytes) : undefined
  try {
    // Requested together, so that a store that supports it makes them one commit.
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

/** Stamped with the time of writing, because budgets search for new records by time. */
async function recordUsage({ ports: { records, clock }, ledger }: UsecaseDeps, usage: CountedCall[]): Promise<void> {
  if (usage.length === 0) return
  const createdAt = clock.now().toISOString()
  await records.usage.record(usage.map(({ record }) => ({ ...record, createdAt })))
  for (const { counted } of usage) ledger.settle(counted)
}

/** The choice that was first asked: a fallback answers one turn, not the conversation. */
function rememberFirst([first]: TurnParts['choices']): RememberedModel | undefined {
  return first && { namespace: first.provider.namespace, name: first.provider.name, model: first.model }
}

/** Drops the oldest exchanges after the first user message when the session is too large (SESS-004, SESS-009). */
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
