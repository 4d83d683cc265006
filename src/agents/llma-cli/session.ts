// Claude Code: the file of a session. Beside what was said it records the system prompt and the tools that were offered, which a
// resumed run offers again whatever its own limits are; so only the conversation is carried on.
import { z } from 'zod'
import { parseLine } from '../json-line.ts'
import type { SessionFile } from '../runtime.ts'

const Entry = z.object({
  type: z.string(),
  uuid: z.string(),
  parentUuid: z.string().nullable(),
  isSidechain: z.boolean().optional(),
  timestamp: z.string().optional(),
  message: z.looseObject({ role: z.string() }).optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
})

const spoken = ['user', 'assistant']

/** Entries name the one before them: what follows an entry that is left out follows the one before it. */
function keepConversation({ id, text }: { id: string; text: string }, workFolder: string): string {
  const before = new Map<string, string | null>()
  const kept = text.split('\n').flatMap((line) => {
    const entry = parseLine(Entry, line)
    if (entry === undefined) return []
    const parentUuid = entry.parentUuid === null ? null : (before.get(entry.parentUuid) ?? null)
    const isKept = spoken.includes(entry.type) && entry.message !== undefined && entry.isSidechain !== true
    before.set(entry.uuid, isKept ? entry.uuid : parentUuid)
    return isKept ? [{ ...entry, parentUuid, sessionId: id, cwd: workFolder }] : []
  })
  return kept.map((entry) => `${JSON.stringify(entry)}\n`).join('')
}

function nameFolder(workFolder: string): string {
  return `.claude/projects/${workFolder.replace(/[^A-Za-z0-9]/g, '-')}`
}

export const llmaCliSession: SessionFile = {
  place: (id, workFolder) => ({ folders: [nameFolder(workFolder)], ending: `${id}.jsonl` }),
  lay: (kept, workFolder) => ({
    [`${nameFolder(workFolder)}/${kept.id}.jsonl`]: keepConversation(kept, workFolder),
  }),
}
