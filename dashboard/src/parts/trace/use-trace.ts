// The steps of a task or a chat: what is stored at first, and what changes while they are looked at.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { readEvents } from '../../../../src/client/event-stream.ts'
import { keyOfStep } from '../../../../src/client/trace-tree.ts'
import type { getSessionTrace } from '../../../../src/contract/api/chat/sessions.ts'
import { getTaskTrace, type TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { api } from '../../data/api.ts'
import { createNotice } from './notice.ts'

/** Of a task, or of a chat whose turns are its attempts. */
export type TraceSource = { namespace: string; name: string; route?: typeof getTaskTrace | typeof getSessionTrace }

/** The route of a task, in whose form that of a chat answers. */
function inputOf({ namespace, name, route }: TraceSource) {
  return { route: (route ?? getTaskTrace) as typeof getTaskTrace, params: { id: name }, query: { namespace } }
}

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

async function readStored(store: StepStore, source: TraceSource, signal: AbortSignal): Promise<void> {
  const { route, params, query } = inputOf(source)
  const client = api()
  let next: string | undefined
  do {
    const input = { params, query: { ...query, limit: pageSize, continue: next }, signal }
    const page = await client.call(route, input)
    for (const step of page.items) store.add(step)
    next = page.metadata.continue
  } while (next !== undefined)
}

async function followOn(store: StepStore, source: TraceSource, signal: AbortSignal): Promise<void> {
  const { route, params, query } = inputOf(source)
  const headers = store.lastSeq === 0 ? {} : { 'last-event-id': String(store.lastSeq) }
  const input = { params, query: { ...query, follow: true }, headers, signal }
  for await (const { data } of readEvents(api(), route, input)) store.add(JSON.parse(data) as TraceStep)
}

export type LiveTrace = {
  steps: readonly TraceStep[]
  /** What is stored was read. */
  isRead: boolean
  error: unknown
  retry: () => void
}

type Following = { isLookedAt: boolean; isOver: boolean; attempt: number | undefined }

/** For one task or chat: draw what uses it anew (`key`) for another one. A stream is open while it is looked at and goes on. */
export function useTrace(
  { namespace, name, route }: TraceSource,
  { isLookedAt, isOver, attempt }: Following,
): LiveTrace {
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
      const source = { namespace, name, ...(route && { route }) }
      if (!isRead) await readStored(store, source, stop.signal)
      setSteps(store.list())
      setRead(true)
      if (isLookedAt && !isOver) await followOn(store, source, stop.signal)
    }
    read().catch((failure) => !stop.signal.aborted && setError(failure))
    return () => stop.abort()
  }, [namespace, name, route, store, isLookedAt, attempt, tries])
  const retry = () => {
    setError(undefined)
    setTries((count) => count + 1)
  }
  return { steps, isRead, error, retry }
}
