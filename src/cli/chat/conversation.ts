// A conversation at the terminal: a prompt, turns, and words that begin with a slash.
import type { Client } from '../../client/client.ts'
import type { ChatRequest } from '../../contract/api/chat.ts'
import { getSession } from '../../contract/api/sessions.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import type { CliContext, LinePrompt, Typed } from '../context.ts'
import { sendMessage, type TurnEnd } from './turn.ts'

export type Conversation = {
  client: Client
  context: CliContext
  prompt: LinePrompt
  /** Of every message. */
  request: Omit<ChatRequest, 'message'>
  quiet?: boolean | undefined
}

type State = {
  sessionId: string | undefined
  /** What was typed, for the arrow keys. */
  history: string[]
  /** The next Ctrl-C leaves. */
  isLeaving: boolean
}

type Entry = { role: string; content: string; name?: string }

const help = `  /help      these words
  /history   the conversation so far
  /session   the name of the session, and how to come back to it
  /new       begin a new session
  /quit      leave (also Ctrl-D)

A pasted text is one message. Alt+Enter or Ctrl-J begins a line within a message. What is typed while an answer comes
is kept for the next question. Ctrl-C ends the turn that runs; pressed twice it leaves. The arrow keys bring back what
was typed.`

/** Until the person leaves. Resolves to the session. */
export async function converse(conversation: Conversation): Promise<string | undefined> {
  const { context, prompt, request } = conversation
  const state: State = { sessionId: request.sessionId, history: [], isLeaving: false }
  if (state.sessionId !== undefined) state.history = await recallLines(conversation, state.sessionId)
  context.terminal.note(context.terminal.colors.dim('/help shows what can be typed'))
  while (!(await answer(conversation, state, await prompt.ask('> ', state.history)))) {
    // Every turn is its own; what lasts is in the state.
  }
  return state.sessionId
}

/** True when the person leaves. */
async function answer(conversation: Conversation, state: State, typed: Typed): Promise<boolean> {
  if (typed === 'end') return true
  if (typed !== 'interrupt') return answerLine(conversation, state, typed.line.trim())
  if (state.isLeaving) return true
  state.isLeaving = true
  conversation.context.terminal.note('Ctrl-C once more leaves')
  return false
}

/** True when the person wants to leave. */
async function answerLine(conversation: Conversation, state: State, line: string): Promise<boolean> {
  state.isLeaving = false
  if (line === '') return false
  if (line === '/quit' || line === '/exit') return true
  if (/^\/\S*$/.test(line)) await runWord(conversation, state, line)
  else await runTurn(conversation, state, line)
  return false
}

async function runTurn({ client, context, request, quiet }: Conversation, state: State, message: string) {
  const { terminal } = context
  state.history.push(message)
  const session = state.sessionId === undefined ? {} : { sessionId: state.sessionId }
  try {
    const end = await sendMessage(client, { ...request, ...session, message }, { context, quiet })
    state.sessionId = end.sessionId
    state.isLeaving = end.outcome === 'cancelled'
    reportEnd(end, context)
  } catch (error) {
    terminal.note(`${terminal.colors.red('error:')} ${messageOf(error)}`)
  }
}

/** What went wrong, if anything did. */
export function reportEnd({ outcome, error }: TurnEnd, { terminal }: CliContext): void {
  if (outcome === 'cancelled') terminal.note(terminal.colors.dim('cancelled'))
  if (error !== undefined) terminal.note(`${terminal.colors.red('error:')} ${error.message}`)
}

async function runWord(conversation: Conversation, state: State, word: string): Promise<void> {
  const { terminal } = conversation.context
  if (word === '/help') terminal.note(help)
  else if (word === '/new') state.sessionId = undefined
  else if (word === '/session') terminal.note(describeSession(state.sessionId))
  else if (word === '/history') await showHistory(conversation, state.sessionId)
  else terminal.note(`${word} is no word of this program; /help shows them`)
}

export function describeSession(sessionId: string | undefined): string {
  return sessionId === undefined
    ? 'no session yet'
    : `session ${sessionId}: \`svc chat --session ${sessionId}\` goes on`
}

async function showHistory(conversation: Conversation, sessionId: string | undefined): Promise<void> {
  const { terminal } = conversation.context
  const entries = sessionId === undefined ? [] : await readEntries(conversation, sessionId)
  if (entries.length === 0) return terminal.note('nothing was said yet')
  for (const { role, name, content } of entries) {
    terminal.note(`${terminal.colors.bold(name === undefined ? role : `${role} ${name}`)}: ${content}`)
  }
}

async function recallLines(conversation: Conversation, sessionId: string): Promise<string[]> {
  const entries = await readEntries(conversation, sessionId)
  return entries.filter(({ role }) => role === 'user').map(({ content }) => content)
}

/** None when the session is to be made by the first message. */
async function readEntries({ client, request }: Conversation, sessionId: string): Promise<Entry[]> {
  const query = request.namespace === undefined ? {} : { namespace: request.namespace }
  try {
    const { transcript } = await client.call(getSession, { params: { id: sessionId }, query })
    return transcript
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Entry)
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return []
    throw error
  }
}
