// The steps of a task: what is stored at first, and what changes while they are looked at.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { readEvents } from '../../../../src/client/event-stream.ts'
import { keyOfStep } from '../../../../src/client/trace-tree.ts'
import { getTaskTrace, type TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { api } from '../../data/api.ts'
import { createNotice } from './notice.ts'
import { type TaskPlace, targetOf } from './place.ts'

/** Changes are shown together: the tree is drawn at most this often, a large one more seldom. */
const gatherMs = (count: number) => 100 + count / 50
const pageSize = 500

function createStepStore() {
  const steps = new Map<string, TraceStep>()
  const notice = createNotice(() => gatherMs(steps.size))
  return {
    notice,
    lastSeq: 0,
    list: () => [...steps.values()],
    add(step: TraceStep): void {
      steps.set(keyOfStep(step), step)
      this.lastSeq = Math.max(this.lastSeq, step.seq)
      notice.note()
    },
  }
}

type StepStore = ReturnType<typeof createStepStore>

async function readStored(store: StepStore, place: TaskPlace, signal: AbortSignal): Promise<void> {
  const { params, query } = targetOf(place)
  const client = api()
  let next: string | undefined
  do {
    const input = { params, query: { ...query, limit: pageSize, continue: next }, signal }
    const page = await client.call(getTaskTrace, input)
    for (const step of page.items) store.add(step)
    next = page.metadata.continue
  } while (next !== undefined)
}

async function followOn(store: StepStore, place: TaskPlace, signal: AbortSignal): Promise<void> {
  const { params, query } = targetOf(place)
  const headers = store.lastSeq === 0 ? {} : { 'last-event-id': String(store.lastSeq) }
  const input = { params, query: { ...query, follow: true }, headers, signal }
  for await (const { data } of readEvents(api(), getTaskTrace, input)) store.add(JSON.parse(data) as TraceStep)
}

export type LiveTrace = {
  steps: readonly TraceStep[]
  /** What is stored was read. */
  isRead: boolean
  error: unknown
  retry: () => void
}

type Following = { isLookedAt: boolean; isOver: boolean; attempt: number | undefined }

/** For one task: draw what uses it anew (`key`) for another one. A stream is open while it is looked at and goes on. */
export function useTrace({ namespace, name }: TaskPlace, { isLookedAt, isOver, attempt }: Following): LiveTrace {
  const [store] = useState(createStepStore)
  const [steps, setSteps] = useState<readonly TraceStep[]>([])
  const [isRead, setRead] = useState(false)
  const [error, setError] = useState<unknown>()
  const [tries, setTries] = useState(0)
  const version = useSyncExternalStore(store.notice.subscribe, store.notice.version)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version tells of changes
  useEffect(() => setSteps(store.list()), [store, version])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a try or another attempt reads on where the last one ended; a stream ends by itself with the task
  useEffect(() => {
    const stop = new AbortController()
    async function read(): Promise<void> {
      const place = { namespace, name }
      if (!isRead) await readStored(store, place, stop.signal)
      setSteps(store.list())
      setRead(true)
      if (isLookedAt && !isOver) await followOn(store, place, stop.signal)
    }
    read().catch((failure) => !stop.signal.aborted && setError(failure))
    return () => stop.abort()
  }, [namespace, name, store, isLookedAt, attempt, tries])
  const retry = () => {
    setError(undefined)
    setTries((count) => count + 1)
  }
  return { steps, isRead, error, retry }
}
