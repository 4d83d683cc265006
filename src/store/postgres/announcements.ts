// Notes of committed units on their way to the other processes: the payload of NOTIFY (PROV-009, MODE-010).
import { escapeLiteral } from 'pg'

export type Note = { channel: string; note: string | undefined }

/** The channel of the database that every process listens to. */
export const CHANNEL = 'svc'
/** The server refuses 8000 bytes (https://www.postgresql.org/docs/15/sql-notify.html). */
const PAYLOAD_BYTES = 7900

type Payload = { from: string; notes: [string, string | null][] }

function encodePayload(from: string, notes: Payload['notes']): string {
  return JSON.stringify({ from, notes } satisfies Payload)
}

function fits(from: string, notes: Payload['notes']): boolean {
  return Buffer.byteLength(encodePayload(from, notes)) <= PAYLOAD_BYTES
}

/** The fewest payloads that hold the notes, each once; a note that fits in none becomes "check everything". */
export function encodeNotes(from: string, notes: readonly Note[]): string[] {
  const parts: Payload['notes'][] = []
  const unique = new Map(notes.map(({ channel, note }) => [JSON.stringify([channel, note]), { channel, note }]))
  for (const { channel, note = null } of unique.values()) {
    const entry: [string, string | null] = fits(from, [[channel, note]]) ? [channel, note] : [channel, null]
    const last = parts.at(-1)
    if (last !== undefined && fits(from, [...last, entry])) last.push(entry)
    else parts.push([entry])
  }
  return parts.map((part) => encodePayload(from, part))
}

/** What another process announced; nothing for this process's own notes, which it has received already. */
export function decodeNotes(self: string, payload: string): Note[] {
  const { from, notes } = JSON.parse(payload) as Payload
  return from === self ? [] : notes.map(([channel, note]) => ({ channel, note: note ?? undefined }))
}

/** The commit together with its notes, in one round trip. */
export function composeCommit(from: string, notes: readonly Note[]): string {
  const calls = encodeNotes(from, notes).map((payload) => `select pg_notify('${CHANNEL}', ${escapeLiteral(payload)}); `)
  return `${calls.join('')}commit`
}
