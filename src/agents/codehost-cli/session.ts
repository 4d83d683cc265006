// GitHub Copilot CLI: the file of a session. Only the conversation is carried on: limits come from the arguments of each run.
import { z } from 'zod'
import { parseLine } from '../json-line.ts'
import type { SessionFile } from '../runtime.ts'

const Entry = z.object({ type: z.string().regex(/^(session\.start$|(user|assistant|tool)\.)/) })

function keepConversation(text: string): string {
  const kept = text.split('\n').filter((line) => parseLine(Entry, line) !== undefined)
  return kept.map((line) => `${line}\n`).join('')
}

const file = 'events.jsonl'
const nameFolder = (id: string) => `.copilot/session-state/${id}`

export const codehostCliSession: SessionFile = {
  place: (id) => ({ folders: [nameFolder(id)], ending: file }),
  lay: ({ id, text }) => ({ [`${nameFolder(id)}/${file}`]: keepConversation(text) }),
}
