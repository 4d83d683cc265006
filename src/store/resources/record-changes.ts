// Publishes which records changed: every process announces what it wrote at most once a second, and hears what all of them
// announce.
import type { RecordKind } from '../../contract/api/resources/watch.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Records } from '../../ports/index.ts'
import type { RecordChange, RecordChanges } from '../../ports/resources/records.ts'
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
  /** Publishes it to all processes on the database. */
  note(change: RecordChange): void
  close(): void
}

export function createRecordChanges({ database, clock }: { database: Database; clock: Clock }): RecordChangeLog {
  const listeners = new Set<(change: RecordChange | undefined) => void>()
  const publish = (change: RecordChange | undefined) => {
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
    for (const word of words) publish(JSON.parse(word))
  })
  const silence = database.listen(channel, (word) => (word === undefined ? publish(undefined) : incoming.note(word)))

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

type Stores = Required<Omit<Records, 'changes'>>
type Writers = { [S in keyof Stores]?: Partial<Record<RecordKind, readonly (keyof Stores[S])[]>> }

/** The methods after which records of a kind are to be read again. */
const writers: Writers = {
  approvals: { Approval: ['ask', 'answer', 'use'] },
  sessions: { Session: ['ensure', 'append', 'compact', 'unlock', 'remove'] },
  memories: { Memory: ['create', 'change', 'setDisabled'] },
  memoryProposals: { MemoryProposal: ['create', 'review', 'apply', 'archive'], Memory: ['apply'] },
  usage: { Usage: ['record'] },
  ends: { Usage: ['store'] },
  audit: { Audit: ['append'] },
  budgets: { Budget: ['put', 'remove'] },
  alerts: { Budget: ['raise', 'settle', 'postpone'] },
  scans: { Scan: ['startRun', 'changeRun', 'cutSlices', 'changeSlice', 'saveThreatModel'] },
  scanImports: { Scan: ['startImport', 'endImport'] },
  findings: { Finding: ['recordReview', 'change', 'endDismissals', 'proposePatch', 'decidePatch'] },
  monitors: {
    Monitor: [
      ...(['queueRun', 'changeRun', 'withdrawRun', 'putItem', 'addReview', 'setDismissed'] as const),
      ...(['endPublishing', 'append'] as const),
    ],
  },
  deliveries: { Delivery: ['accept', 'settle', 'postpone', 'reopen'] },
  workspaces: { Workspace: ['note', 'release', 'returnLoan', 'remove'] },
  plans: { Plan: ['save'] },
  messages: { Message: ['send'] },
}

/** Namespaces that are remembered by the ids of what lies in them. */
const maxNamespaces = 10_000

type Identified = { namespace?: unknown; uid?: unknown; id?: unknown }

function listIdentified(value: unknown): Identified[] {
  return [value].flat().filter((one): one is Identified => typeof one === 'object' && one !== null)
}

/** Namespaces by uid or id, from calls that have both. */
function createNamespaceIndex() {
  const known = new BoundedMap<string, string>({ max: maxNamespaces })

  function learn({ namespace, uid, id }: Identified): void {
    const key = uid ?? id
    if (typeof namespace !== 'string' || typeof key !== 'string') return
    known.set(key, namespace)
  }

  return {
    /** Where a call wrote: the namespaces that it names, else the one of the id that it names; undefined: not known. */
    find(first: unknown, result: unknown): (string | undefined)[] {
      const identified = [...listIdentified(first), ...listIdentified(result)]
      identified.forEach(learn)
      const named = identified.flatMap(({ namespace }) => (typeof namespace === 'string' ? [namespace] : []))
      return named.length > 0 ? [...new Set(named)] : [typeof first === 'string' ? known.get(first) : undefined]
    },
  }
}

type Method = (...parameters: unknown[]) => Promise<unknown>
type Note = (change: RecordChange) => void

function publishAfter(store: object, method: string, publish: (first: unknown, result: unknown) => void): Method {
  const work = (store as Record<string, Method>)[method] as Method
  return async (...parameters) => {
    const result = await work(...parameters)
    publish(parameters[0], result)
    return result
  }
}

/** The stores, each of which notes what it has written; what belongs to one task alone is reported by its own streams. */
export function publishRecords<R extends Stores>(stores: R, note: Note): R {
  const namespaces = createNamespaceIndex()
  const published: Record<string, object> = {}
  for (const [name, kinds] of Object.entries(writers)) {
    const store: Record<string, unknown> = { ...stores[name as keyof Stores] }
    for (const [kind, methods] of Object.entries(kinds) as [RecordKind, string[]][]) {
      for (const method of methods) {
        store[method] = publishAfter(store, method, (first, result) => {
          for (const namespace of namespaces.find(first, result)) note({ kind, ...(namespace && { namespace }) })
        })
      }
    }
    published[name] = store
  }
  return { ...stores, ...published }
}
