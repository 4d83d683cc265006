// Traces: a page of steps, or live (SSE with ids, so that Last-Event-ID resumes).
import type { StepQuery, TracedStep } from '../../../ports/tasks/steps.ts'
import type { EventFrame } from '../../event-stream.ts'
import { makeCursor, readNumberCursor, readPageOf, wrapPage } from '../../paging.ts'

const stepCursor = 'step'

type TraceQuery = Omit<StepQuery, 'taskUid'>

type TraceRequest = {
  query: {
    follow: boolean
    attempt?: number | undefined
    kind?: readonly string[] | undefined
    limit: number
    continue?: string | undefined
  }
  headers: { 'last-event-id'?: string | undefined }
}

type TraceSource = {
  list(query: TraceQuery): Promise<TracedStep[]>
  follow(query: Omit<TraceQuery, 'limit'>): Promise<(signal: AbortSignal) => AsyncGenerator<TracedStep>>
}

/**
 * A frame per item, and `end` when there will be no more; no `end` when the reader disconnects or the service drains.
 */
export async function* frameItems<T>(
  items: AsyncIterable<T>,
  present: (item: T) => EventFrame,
  signal: AbortSignal,
): AsyncGenerator<EventFrame> {
  for await (const item of items) yield present(item)
  if (!signal.aborted) yield { event: 'end', data: '{}' }
}

export function readLastId(headers: TraceRequest['headers']): number | undefined {
  const id = headers['last-event-id']
  return id === undefined ? undefined : Number(id)
}

export async function answerTrace({ query, headers }: TraceRequest, { list, follow }: TraceSource) {
  const { attempt, kind: kinds, limit } = query
  if (query.follow) {
    const source = await follow({ attempt, kinds, afterSeq: readLastId(headers) })
    const present = (step: TracedStep) => ({ id: step.seq, data: JSON.stringify(step) })
    return { events: (signal: AbortSignal) => frameItems(source(signal), present, signal) }
  }
  const afterSeq = readNumberCursor(stepCursor, query.continue)
  const cursorOf = ({ seq }: TracedStep) => makeCursor(stepCursor, String(seq))
  const page = await readPageOf({ limit, cursorOf }, (count) => list({ attempt, kinds, afterSeq, limit: count }))
  return { json: wrapPage(page, (step) => step) }
}
