// Logs and timeline of a task: what is there, or live (SSE with ids, so that Last-Event-ID resumes).
import { Readable } from 'node:stream'
import type { LogPart } from '../../../contract/api/tasks/task-records.ts'
import * as routes from '../../../contract/api/tasks/tasks.ts'
import type { EventRecord } from '../../../ports/tasks/events.ts'
import type { LogLine } from '../../../ports/tasks/outputs.ts'
import type { LinePart } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import type { EventFrame } from '../../event-stream.ts'
import { makeCursor, readNumberCursor, wrapPage } from '../../paging.ts'

const eventCursor = 'event'

function presentEvent(event: EventRecord) {
  const { seq, taskUid, attempt, type, phase, reason, message, createdAt } = event
  // JSON leaves out undefined fields.
  return { id: seq, taskUid, attempt, type, phase, reason, message, createdAt }
}

/** `{"logs":"..."}` line by line, so that ten mebibytes are never one string. */
async function* writeLogs(lines: AsyncIterable<LogLine>): AsyncGenerator<string> {
  yield '{"logs":"'
  for await (const { text } of lines) yield JSON.stringify(`${text}\n`).slice(1, -1)
  yield '"}'
}

/**
 * A frame per item, and `end` when there will be no more; no `end` when the reader disconnects or the service drains.
 */
async function* frame<T>(
  items: AsyncIterable<T>,
  present: (item: T) => EventFrame,
  signal: AbortSignal,
): AsyncGenerator<EventFrame> {
  for await (const item of items) yield present(item)
  if (!signal.aborted) yield { event: 'end', data: '{}' }
}

function presentLog(item: LogLine | LinePart): EventFrame {
  if (!('part' in item)) return { id: item.seq, data: item.text }
  const { offset, part: text } = item
  return { event: 'part', data: JSON.stringify({ offset, text } satisfies LogPart) }
}

function readLastId(headers: { 'last-event-id'?: string | undefined }): number | undefined {
  const id = headers['last-event-id']
  return id === undefined ? undefined : Number(id)
}

export function bindTaskStreams(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.getTaskLogs, async ({ caller, namespace, params, query, headers }) => {
    const key = { namespace, name: params.id }
    if (!query.follow) {
      const lines = await usecases.tasks.logs(caller, key, query.tailLines)
      return {
        stream: Readable.from(writeLogs(lines), { objectMode: false }),
        contentType: 'application/json; charset=utf-8',
      }
    }
    const range = { afterSeq: readLastId(headers), tailLines: query.tailLines }
    const source = await usecases.tasks.followLogs(caller, key, range)
    return { events: (signal) => frame(source(signal), presentLog, signal) }
  })

  bind(routes.getTaskEvents, async ({ caller, namespace, params, query, headers }) => {
    const key = { namespace, name: params.id }
    if (query.follow) {
      const source = await usecases.tasks.followEvents(caller, key, readLastId(headers) ?? 0)
      const present = (event: EventRecord) => ({ id: event.seq, data: JSON.stringify(presentEvent(event)) })
      return { events: (signal) => frame(source(signal), present, signal) }
    }
    const beforeSeq = readNumberCursor(eventCursor, query.continue)
    const page = beforeSeq === undefined ? {} : { beforeSeq }
    const events = await usecases.tasks.events(caller, key, { ...page, limit: query.limit })
    const last = events.at(-1)
    const more = last !== undefined && last.seq > 1 && events.length === query.limit
    const next = more ? { continue: makeCursor(eventCursor, String(last.seq)) } : {}
    return { json: wrapPage({ items: events, ...next }, presentEvent) }
  })
}
