// The timeline of a task, by a stream of its own while it is on the screen.
import { useEffect, useState } from 'react'
import { readEvents } from '../../../../src/client/event-stream.ts'
import type { TimelineEvent } from '../../../../src/contract/api/tasks/task-records.ts'
import { getTaskEvents } from '../../../../src/contract/api/tasks/tasks.ts'
import { api } from '../../data/api.ts'
import { type TaskPlace, targetOf } from './place.ts'

/** Events are shown together: the list is drawn at most this often. */
const gatherMs = 100

/** Calls `take` with what has come, oldest first. */
function followTimeline(place: TaskPlace, take: (events: TimelineEvent[]) => void, signal: AbortSignal) {
  let gathered: TimelineEvent[] = []
  const handOut = () => {
    const events = gathered
    gathered = []
    if (!signal.aborted) take(events)
  }
  async function read(): Promise<void> {
    const { params, query } = targetOf(place)
    const input = { params, query: { ...query, follow: true }, signal }
    for await (const { data } of readEvents(api(), getTaskEvents, input)) {
      if (gathered.length === 0) setTimeout(handOut, gatherMs)
      gathered.push(JSON.parse(data) as TimelineEvent)
    }
    handOut()
  }
  return read()
}

export function useTimeline({ namespace, name }: TaskPlace) {
  const [events, setEvents] = useState<TimelineEvent[]>([])
  const [isRead, setRead] = useState(false)
  const [error, setError] = useState<unknown>()
  const [tries, setTries] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try reads anew
  useEffect(() => {
    const stop = new AbortController()
    const take = (more: TimelineEvent[]) => setEvents((before) => [...before, ...more])
    setEvents([])
    setRead(false)
    setError(undefined)
    followTimeline({ namespace, name }, take, stop.signal).then(
      () => setRead(true),
      (failure) => !stop.signal.aborted && setError(failure),
    )
    return () => stop.abort()
  }, [namespace, name, tries])
  return { events, isRead, error, retry: () => setTries(tries + 1) }
}
