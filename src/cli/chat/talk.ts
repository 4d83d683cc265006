// The state of a conversation at the terminal, and what it reads of its session.
import type { Client } from '../../client/client.ts'
import type { LinePrompt } from '../../client/machine.ts'
import { typed } from '../../client/typed.ts'
import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import { getSession, type SessionDetail } from '../../contract/api/chat/sessions.ts'
import { isSvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'

/** A request without its message. */
export type Opening = Omit<ChatRequest, 'message'>

export type Conversation = {
  client: Client
  context: CliContext
  prompt: LinePrompt
  /** Sent with every message, until a command changes it. */
  request: Opening
  quiet?: boolean | undefined
}

export type Talk = Conversation & {
  sessionId: string | undefined
  /** What answers the next message, as far as it is known. */
  answering: { provider: string | undefined; model: string | undefined }
  /** What was typed, for the arrow keys. */
  history: string[]
  /** The next Ctrl-C leaves. */
  isLeaving: boolean
}

/** Undefined when the first message creates the session. */
export async function findSession(
  client: Client,
  { sessionId, namespace }: Opening,
  maxMessages?: number,
): Promise<SessionDetail | undefined> {
  if (sessionId === undefined) return undefined
  try {
    return await client.call(getSession, { params: { id: sessionId }, query: { namespace, maxMessages } })
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}

type Entry = { role: string; content: string; name?: string }

export function readEntries(session: Pick<SessionDetail, 'transcript'> | undefined): Entry[] {
  const lines = session?.transcript.split('\n').filter(Boolean) ?? []
  return lines.map((line) => JSON.parse(line) as Entry)
}

export function describeSession({ sessionId, request }: { sessionId: string | undefined; request: Opening }): string {
  if (sessionId === undefined) return 'no session yet'
  return `session ${sessionId}: \`${typed(`chat --session ${sessionId}`, request.namespace)}\` goes on`
}
