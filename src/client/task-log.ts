// The log of a task as it is followed: whole lines, and the one that is being written in parts.
import type { LogPart } from '../contract/api/tasks/task-records.ts'
import { getTaskLogs } from '../contract/api/tasks/tasks.ts'
import type { CallInput, Client } from './client.ts'
import { readEvents } from './event-stream.ts'

/** Where a log was left, to go on from there. */
export type FollowedPosition = { lastId?: string | undefined }

/** Which lines, and in which form. */
export type FollowedLogQuery = Omit<NonNullable<CallInput<typeof getTaskLogs>['query']>, 'follow'>

type Followed = {
  params: { id: string }
  query: FollowedLogQuery
  signal: AbortSignal
  position?: FollowedPosition
}

/** Lines that come, each whole at its end; a line may have been sent in parts before. */
export async function* followLog(
  client: Client,
  { params, query, signal, position = {} }: Followed,
): AsyncGenerator<string | LogPart> {
  const { lastId } = position
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  const input = { params, query: { ...query, follow: true }, headers, signal }
  for await (const { id, event, data } of readEvents(client, getTaskLogs, input)) {
    position.lastId = id ?? position.lastId
    yield event === 'part' ? (JSON.parse(data) as LogPart) : data
  }
}
