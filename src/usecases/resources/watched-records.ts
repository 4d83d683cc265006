// Changes of records in a watch: what the caller may list, one hint for many changes, and none kept twice for a slow reader.
import type { RecordKind } from '../../contract/api/resources/watch.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { RecordChange, RecordChanges } from '../../ports/resources/record-changes.ts'
import { accessKindOf } from '../../rules/identity/record-rights.ts'
import { mayAccess } from '../identity/access.ts'
import { mergeDrained } from './merged-watch.ts'

export type RecordQuery = {
  records: readonly RecordKind[]
  /** Absent: of all that the caller may list. */
  namespaces: readonly string[] | undefined
  /** Whether some may have been missed, so that each kind is told at once. */
  isResumed: boolean
}

export type RecordHint = { type: 'records'; change: RecordChange }

/** Whether the caller may list such records where they have changed; where that is not known, in any place that is watched. */
async function mayList(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { kind, namespace }: RecordChange,
  watched: readonly string[] | undefined,
): Promise<boolean> {
  const places = namespace === undefined ? (watched ?? [undefined]) : [namespace]
  for (const place of places) {
    const where = place === undefined ? {} : { namespace: place }
    if (await mayAccess(ports, caller, { verb: 'list', kind: accessKindOf(kind), ...where, entry: true })) return true
  }
  return false
}

type Queue = { drain(): RecordChange[]; close(): void }

/** What has changed since the queue was last drained; `wake` is called when something is added. */
function queueChanges(changes: RecordChanges, query: RecordQuery, wake: () => void): Queue {
  const { records, namespaces } = query
  const waiting = new Map<string, RecordChange>()
  const add = (change: RecordChange) => {
    waiting.set(JSON.stringify([change.kind, change.namespace]), change)
    wake()
  }
  const noteAll = () => {
    for (const kind of records) add({ kind })
  }
  const isWatched = ({ kind, namespace }: RecordChange) =>
    records.includes(kind) && (namespace === undefined || (namespaces?.includes(namespace) ?? true))
  const close = changes.subscribe((change) => {
    if (change === undefined) noteAll()
    else if (isWatched(change)) add(change)
  })
  if (query.isResumed) noteAll()
  return {
    drain() {
      const drained = [...waiting.values()]
      waiting.clear()
      return drained
    },
    close,
  }
}

/** The changes of objects, between them hints about records; ends with the former. */
export async function* readWithRecords<T>(
  ports: Pick<Ports, 'authorizer' | 'records'>,
  { caller, query, objects }: { caller: Caller; query: RecordQuery; objects: AsyncIterable<T> },
): AsyncGenerator<T | RecordHint> {
  const waker = { wake: () => {} }
  const queue = queueChanges(ports.records.changes, query, () => waker.wake())
  const drain = () => queue.drain().map((change): RecordHint => ({ type: 'records', change }))
  const isHint = (one: T | RecordHint): one is RecordHint =>
    typeof one === 'object' && one !== null && 'type' in one && one.type === 'records'
  try {
    for await (const one of mergeDrained(objects, drain, waker)) {
      if (!isHint(one) || (await mayList(ports, caller, one.change, query.namespaces))) yield one
    }
  } finally {
    queue.close()
  }
}
