// Codex: the file of a session. It lies in a folder of the day on which the session began, and its id begins with that time.
// Limits come from the configuration of each run.
import type { SessionFile } from '../runtime.ts'

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
  lay: ({ id, text }) => ({ [`${nameFolder(id)}/rollout-${anyTime}-${id}.jsonl`]: text }),
}
