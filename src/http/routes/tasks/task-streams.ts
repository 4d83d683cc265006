// Logs and timeline of a task: what is there, or live (SSE with ids, so that Last-Event-ID resumes).
import { Readable } from 'node:stream'
import type { LogPart } from '../../../contract/api/tasks/task-records.ts'
import * as routes from '../../../contract/api/tasks/tasks.ts'
import { getTaskTrace } from '../../../contract/api/tasks/trace.ts'
import type { EventRecord } from '../../../ports/tasks/events.ts'
import type { LogLine } from '../../../ports/tasks/outputs.ts'
import type { LinePart } from '../../../usecases/index.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import type { EventFrame } from '../../event-stream.ts'
import { makeCursor, readNumberCursor, wrapPage } from '../../paging.ts'
import { answerTrace, frameItems, readLastId } from './trace-answer.ts'

const eventCursor = 'event'

function presentEvent(event: EventRecord) {
  const { seq, taskUid, attempt, type, phase, reason, message, createdAt } = event
  // JSON leaves out undefined fields.
  return { id: seq, taskUid, attempt, type, phase, reason, message, createdAt }
}

type LogFormat = { timestamps: boolean; format: 'text' | 'json' }
type WriteLine = (line: LogLine) => string

/** Undefined: the text alone. */
function chooseForm({ timestamps, format }: LogFormat): WriteLine | undefined {
  const timeOf = ({ time }: LogLine) => (time === undefined ? undefined : new Date(time).toISOString())
  if (format === 'json') {
    // JSON leaves out undefined fields.
    return (line) => {
      const { attempt, stream, level, text } = line
      return JSON.stringify({ time: timeOf(line), attempt, stream, level, text })
    }
  }
  return timestamps ? (line) => `${timeOf(line) ?? '-'} ${line.text}` : undefined
}

/** `{"logs":"..."}` line by line, so that ten mebibytes are never one string. */
async function* writeLogs(lines: AsyncIterable<LogLine>, write: WriteLine): AsyncGenerator<string> {
  yield '{"logs":"'
  for await (const line of lines) yield JSON.stringify(`${write(line)}\n`).slice(1, -1)
  yield '"}'
}

/** Parts of a line are of its text alone. */
async function* onlyWhole(items: AsyncIterable<LogLine | LinePart>): AsyncGenerator<LogLine> {
  for await (const item of items) if (!('part' in item)) yield item
}

function presentLog(item: LogLine | LinePart): EventFrame {
  if (!('part' in item)) return { id: item.seq, data: item.text }
  const { offset, part: text } = item
  return { event: 'part', data: JSON.stringify({ offset, text } satisfies LogPart) }
}

export function bindTaskStreams(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.getTaskLogs, async ({ caller, key, query, headers }) => {
    const { tailLines, attempt, stream, since, level } = query
    const choice = { tailLines, attempt, stream, level, since: since === undefined ? undefined : new Date(since) }
    const write = chooseForm(query)
    if (!query.follow) {
      const lines = await usecases.tasks.logs(caller, key, choice)
      return {
        stream: Readable.from(writeLogs(lines, write ?? (({ text }) => text)), { objectMode: false }),
        contentType: 'application/json; charset=utf-8',
      }
    }
    const source = await usecases.tasks.followLogs(caller, key, { ...choice, afterSeq: readLastId(headers) })
    if (write === undefined) return { events: (signal) => frameItems(source(signal), presentLog, signal) }
    const present = (line: LogLine) => ({ id: line.seq, data: write(line) })
    return { events: (signal) => frameItems(onlyWhole(source(signal)), present, signal) }
  })

  bind(getTaskTrace, ({ caller, key, query, headers }) => {
    return answerTrace(
      { query, headers },
      {
        list: (choice) => usecases.tasks.trace(caller, key, choice),
        follow: (choice) => usecases.tasks.followTrace(caller, key, choice),
      },
    )
  })

  bind(routes.getTaskEvents, async ({ caller, key, query, headers }) => {
    if (query.follow) {
      const source = await usecases.tasks.followEvents(caller, key, readLastId(headers) ?? 0)
      const present = (event: EventRecord) => ({ id: event.seq, data: JSON.stringify(presentEvent(event)) })
      return { events: (signal) => frameItems(source(signal), present, signal) }
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
