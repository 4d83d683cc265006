// What the live stream tells, gathered and handed out a few times a second.
import {
  type ChangeType,
  changeTypes,
  type WatchedChange,
  type WatchedRecords,
} from '../../../src/contract/api/resources/watch.ts'
import type { Kind } from '../../../src/contract/kinds/index.ts'
import type { Summary } from './summary.ts'

export type LiveChange = { type: ChangeType; kind: Kind; object: Summary }

export type LiveListener = {
  changes(changes: LiveChange[]): void
  records(records: WatchedRecords[]): void
  /** What happened in between is not known: read again. */
  missed(): void
}

/** Changes are shown together: a list is drawn at most this often. */
const gatherMs = 120

export function createLiveChanges(listener: LiveListener) {
  let changes: LiveChange[] = []
  let records = new Map<string, WatchedRecords>()
  let isWaiting = false

  function handOut(): void {
    const [changed, told] = [changes, [...records.values()]]
    isWaiting = false
    changes = []
    records = new Map()
    if (changed.length > 0) listener.changes(changed)
    if (told.length > 0) listener.records(told)
  }

  function wait(): void {
    if (isWaiting) return
    isWaiting = true
    setTimeout(handOut, gatherMs)
  }

  /** An event of the stream; others than changes say nothing here. */
  return (name: string | undefined, data: string): void => {
    const type = changeTypes.find((known) => known === name)
    if (type !== undefined) changes.push({ type, ...(JSON.parse(data) as WatchedChange<Summary>) })
    else if (name === 'records') records.set(data, JSON.parse(data) as WatchedRecords)
    else return
    wait()
  }
}
