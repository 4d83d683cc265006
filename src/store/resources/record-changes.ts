// Tells of changed records: every process announces what it wrote at most once a second, and hears what all of them announce.

import type { Clock } from '../../lib/clock.ts'
import type { RecordChange, RecordChanges } from '../../ports/resources/retention.ts'
import type { Database } from '../database/database.ts'

const channel = 'records'
const pauseMs = 1000

type Pacer = { note(word: string): void; close(): void }

/** Sends the first word at once, and those of the following second together at its end. */
function createPacer(clock: Pick<Clock, 'sleep'>, send: (words: string[]) => void): Pacer {
  const waiting = new Set<string>()
  const closing = new AbortController()
  let isPausing = false

  async function sendAll(): Promise<void> {
    isPausing = true
    while (waiting.size > 0 && !closing.signal.aborted) {
      const words = [...waiting]
      waiting.clear()
      send(words)
      await clock.sleep(pauseMs, closing.signal).catch(() => undefined)
    }
    isPausing = false
  }

  return {
    note(word) {
      waiting.add(word)
      if (!isPausing) void sendAll()
    },
    close: () => closing.abort(),
  }
}

export type RecordChangeLog = RecordChanges & {
  /** Tells everybody, in all processes on the database. */
  note(change: RecordChange): void
  close(): void
}

export function createRecordChanges({ database, clock }: { database: Database; clock: Clock }): RecordChangeLog {
  const listeners = new Set<(change: RecordChange | undefined) => void>()
  const tell = (change: RecordChange | undefined) => {
    for (const listener of [...listeners]) listener(change)
  }
  const outgoing = createPacer(clock, (words) => {
    const write = database.write(async (tx) => {
      for (const word of words) tx.announce(channel, word)
    })
    // What cannot be announced now is announced with what changes next.
    write.catch(() => words.forEach(remember))
  })
  let unsent: string[] = []
  const remember = (word: string) => void unsent.push(word)
  const incoming = createPacer(clock, (words) => {
    for (const word of words) tell(JSON.parse(word))
  })
  const silence = database.listen(channel, (word) => (word === undefined ? tell(undefined) : incoming.note(word)))

  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    note({ kind, namespace }) {
      const words = [...new Set(unsent), JSON.stringify({ kind, namespace })]
      unsent = []
      words.forEach(outgoing.note)
    },
    close() {
      silence()
      outgoing.close()
      incoming.close()
    },
  }
}
