// The state of a conversation at the terminal, what it reads of its session, and which session `--resume` continues.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import type { LinePrompt } from '../../client/machine.ts'
import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import { getSession, listSessions, type SessionDetail, type SessionItem } from '../../contract/api/chat/sessions.ts'
import { ignoring, SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { explainMissing } from '../objects/references.ts'
import { formatAge } from '../output/output.ts'
import { listPages } from '../output/paging.ts'
import { cutTo } from '../output/printable.ts'
import { askNumbered } from '../output/questions.ts'

/** A request without its message. */
export type Opening = Omit<ChatRequest, 'message'>

export type ConversationOptions = {
  client: Client
  context: CliContext
  prompt: LinePrompt
  /** Sent with every message, until a command changes it. */
  request: Opening
  quiet?: boolean | undefined
}

export type Talk = ConversationOptions & {
  sessionId: string | undefined
  /** What answers the next message, as far as it is known. */
  answering: { provider: string | undefined; model: string | undefined }
  /** What was typed, for the arrow keys. */
  history: string[]
  /** The next Ctrl-C leaves. */
  isLeaving: boolean
  /** Tasks that it has named. */
  tasks: Set<string>
}

/** Undefined when the first message creates the session. */
export async function findSession(
  client: Client,
  { sessionId, namespace }: Opening,
  maxMessages?: number,
): Promise<SessionDetail | undefined> {
  if (sessionId === undefined) return undefined
  return ignoring(client.call(getSession, { params: { id: sessionId }, query: { namespace, maxMessages } }), 'NotFound')
}

type Entry = { role: string; content: string; name?: string }

export function readEntries(session: Pick<SessionDetail, 'transcript'> | undefined): Entry[] {
  const lines = session?.transcript.split('\n').filter(Boolean) ?? []
  return lines.map((line) => JSON.parse(line) as Entry)
}

export function describeSession({ sessionId, request }: { sessionId: string | undefined; request: Opening }): string {
  if (sessionId === undefined) return 'no session yet'
  return `session ${sessionId}: \`${commandHint(`chat --session ${sessionId}`, request.namespace)}\` goes on`
}

const maxShown = 10
/** How many of the most recently created sessions are searched for the most recently updated ones. */
const maxRead = 500
/** How many of its newest messages are searched for the last question. */
const messagesRead = 20
const questionWidth = 60

/** The named session. NotFound when it does not exist. */
export async function requireSession(client: Client, request: Opening): Promise<Opening> {
  if ((await findSession(client, request, 1)) !== undefined) return request
  const latest = await listLatest(client, request)
  const names = latest.map(({ name }) => name)
  throw new SvcError('NotFound', explainMissing('session', request.sessionId ?? '', names))
}

/** One of the latest conversations. NotFound when there is none; InvalidRequest when none is chosen. */
export async function pickSession(client: Client, request: Opening, context: CliContext): Promise<Opening> {
  const { openPrompt, terminal } = context
  const latest = await listLatest(client, request)
  if (latest.length === 0)
    throw new SvcError('NotFound', `there is no session to resume yet: \`${commandHint('chat')}\` starts one`)
  const names = latest.map(({ name }) => name)
  const refusal = new SvcError(
    'InvalidRequest',
    `name the session to resume: ${commandHint(`chat --resume ${names[0]}`)}`,
  )
  if (openPrompt === undefined) throw refusal
  const lines = await Promise.all(latest.map((item) => describeItem(client, item, context.now())))
  const chosen = latest[(await askNumbered(names, { terminal, openPrompt, lines })) ?? -1]
  if (chosen === undefined) throw refusal
  // The list may cover several namespaces.
  return { ...request, sessionId: chosen.name, namespace: chosen.namespace }
}

/** The list is newest first; sessions of tasks are left out. */
async function listLatest(client: Client, { namespace }: Opening): Promise<SessionItem[]> {
  const { items } = await listPages<SessionItem>(client, listSessions, { query: { namespace }, limit: maxRead })
  return items
    .filter(({ sessionType }) => sessionType === 'chat')
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, maxShown)
}

async function describeItem(client: Client, item: SessionItem, now: Date): Promise<string> {
  const { name, namespace, updatedAt, messageCount } = item
  const session = await findSession(client, { sessionId: name, namespace }, messagesRead)
  const question = readEntries(session).findLast(({ role }) => role === 'user')?.content ?? ''
  const start = cutTo(question.replace(/\s+/g, ' '), questionWidth)
  return `${name}  ${formatAge(updatedAt, now)} ago, ${messageCount} messages  ${start}`.trimEnd()
}
