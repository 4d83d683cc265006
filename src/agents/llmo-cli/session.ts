// Codex: the file of a session. It lies in a folder of the day on which the session began, and its id begins with that time.
// Beside what was said it records instructions and settings, in place of which a resumed run heeds no others; so only the
// conversation is carried on.
import { z } from 'zod'
import { parseLine } from '../json-line.ts'
import type { SessionFile } from '../runtime.ts'

const Entry = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('session_meta') }),
  /** What is left of a conversation that was shortened. */
  z.looseObject({ type: z.literal('compacted') }),
  z.looseObject({
    type: z.literal('response_item'),
    payload: z.looseObject({ role: z.string().optional() }),
  }),
])

/** Instructions are given by developers, in the words of its vendor. */
function keepConversation(text: string): string {
  const kept = text.split('\n').filter((line) => {
    const entry = parseLine(Entry, line)
    return entry !== undefined && !(entry.type === 'response_item' && entry.payload.role === 'developer')
  })
  return kept.map((line) => `${line}\n`).join('')
}

const dayMs = 86_400_000

/** `days`: after the one in UTC; the program may count in another time zone. */
function nameFolder(id: string, days = 0): string {
  const ms = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  const day = new Date((Number.isNaN(ms) ? 0 : ms) + days * dayMs).toISOString().slice(0, 10)
  return `.codex/sessions/${day.replaceAll('-', '/')}`
}

/** It looks a session up by the id at the end of the name. */
const anyTime = '2000-01-01T00-00-00'

export const llmoCliSession: SessionFile = {
  place: (id) => ({ folders: [-1, 0, 1].map((days) => nameFolder(id, days)), ending: `-${id}.jsonl` }),
  lay: ({ id, text }) => ({ [`${nameFolder(id)}/rollout-${anyTime}-${id}.jsonl`]: keepConversation(text) }),
}
