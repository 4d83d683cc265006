// GitHub Copilot CLI: the file of a session.
import type { SessionFile } from '../runtime.ts'

const file = 'events.jsonl'
const nameFolder = (id: string) => `.copilot/session-state/${id}`

export const codehostCliSession: SessionFile = {
  place: (id) => ({ folders: [nameFolder(id)], ending: file }),
  lay: ({ id, text }) => ({ [`${nameFolder(id)}/${file}`]: text }),
}
