// What the live stream does to what is shown, and its state for the header.
import { useEffect, useSyncExternalStore } from 'react'
import type { Whoami } from '../../../src/contract/api/identity/auth.ts'
import { SvcError } from '../../../src/errors.ts'
import { queryClient } from './api.ts'
import { applyToLists } from './lists.ts'
import type { LiveChange } from './live-changes.ts'
import { type LiveState, liveState, openLiveStream } from './live-stream.ts'
import { namespaceOf } from './summary.ts'
import { noteForSums } from './sums.ts'

/** To ask for what is gone would be refused; what there is about it is gone as well. */
function tellGone(queryKey: string[], { kind, object }: LiveChange): void {
  const error = new SvcError('NotFound', `${kind} "${object.metadata.name}" was deleted`)
  for (const query of queryClient.getQueryCache().findAll({ queryKey })) {
    void query.cancel({ silent: true })
    query.setState({ status: 'error', fetchStatus: 'idle', error, isInvalidated: true })
  }
}

/** Single objects, and answers that are made from objects of a kind. */
function readObjectsAgain(changes: LiveChange[]): void {
  const keyOf = ({ kind, object }: LiveChange) => ['object', kind, namespaceOf(object), object.metadata.name]
  const newest = new Map(changes.map((change) => [JSON.stringify(keyOf(change)), change]))
  for (const change of newest.values()) {
    if (change.type === 'deleted') tellGone(keyOf(change), change)
    // What is being deleted is gone before an answer comes.
    else if (change.object.metadata.deletionTimestamp === undefined)
      void queryClient.invalidateQueries({ queryKey: keyOf(change) })
  }
  readRecordsAgain(changes)
}

/** Answers of a sort are read again at most this often, however many changes there are. */
const betweenReadsMs = 1000
const waiting = new Set<string>()

function readRecordsAgain(records: readonly { kind: string }[]): void {
  for (const { kind } of records) {
    noteForSums(kind)
    if (waiting.has(kind)) continue
    waiting.add(kind)
    setTimeout(() => {
      waiting.delete(kind)
      void queryClient.invalidateQueries({ queryKey: ['records', kind] })
    }, betweenReadsMs)
  }
}

const listener = {
  changes(changes: LiveChange[]) {
    applyToLists(changes)
    readObjectsAgain(changes)
  },
  records: readRecordsAgain,
  missed: () => void queryClient.invalidateQueries(),
}

/** Keeps the stream of this tab open while somebody is signed in. */
export function useLiveStream({ boundNamespace }: Whoami): void {
  useEffect(
    () =>
      openLiveStream(boundNamespace === undefined ? { allNamespaces: true } : { namespaces: boundNamespace }, listener),
    [boundNamespace],
  )
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(liveState.subscribe, liveState.current)
}
