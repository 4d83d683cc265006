// Usage of all model calls of one request, in neutral numbers and in the vendor's own.
import { addCounts } from '../../llm/messages/answer.ts'
import { addUsage, type ModelEvent, noUsage, type Raw, type TokenUsage } from '../../llm/messages/messages.ts'

type Counted = { usage: TokenUsage; raw?: Raw }

export type Totals = {
  note(event: Extract<ModelEvent, { type: 'usage' }>): void
  /** The current call has ended. */
  endCall(): void
  sum(): Counted
}

function addCounted(a: Counted, b: Counted): Counted {
  const usage = addUsage(a.usage, b.usage)
  if (a.raw === undefined || b.raw === undefined)
    return { usage, ...((a.raw ?? b.raw) ? { raw: a.raw ?? b.raw } : {}) } as Counted
  // A fallback of the other family counts differently: then only the neutral numbers are correct.
  if (a.raw.family !== b.raw.family) return { usage }
  return { usage, raw: { family: a.raw.family, json: addCounts(a.raw.json, b.raw.json) } }
}

export function createTotals(): Totals {
  let before: Counted = { usage: noUsage }
  let present: Counted = { usage: noUsage }
  return {
    note: ({ usage, raw }) => {
      present = { usage, raw }
    },
    endCall() {
      before = addCounted(before, present)
      present = { usage: noUsage }
    },
    sum: () => addCounted(before, present),
  }
}
