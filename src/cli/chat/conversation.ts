// A conversation at the terminal: a prompt, turns, and commands that start with a slash.
import type { PromptAnswer } from '../../client/machine.ts'
import { messageOf } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { parseCommand, runSlashCommand } from './commands.ts'
import { sendChatMessage, type TurnEnd } from './screen.ts'
import { describeTurn } from './spending.ts'
import { type ConversationOptions, findSession, readEntries, type Talk } from './talk.ts'

/** Runs until the person leaves. */
export async function converse(conversation: ConversationOptions): Promise<Talk> {
  const { context, prompt } = conversation
  const talk = await beginTalk(conversation)
  context.terminal.note(context.terminal.colors.dim('/help lists the commands'))
  while (!(await answer(talk, await prompt.ask('> ', talk.history)))) {
    // Each turn starts fresh; the talk holds what lasts.
  }
  return talk
}

async function beginTalk(conversation: ConversationOptions): Promise<Talk> {
  const { client, request } = conversation
  const { sessionId, provider, model } = request
  const session = await findSession(client, request)
  const remembered = provider === undefined ? session?.answeredBy : undefined
  return {
    ...conversation,
    sessionId,
    answering: { provider: provider ?? remembered?.name, model: model ?? remembered?.model },
    history: readEntries(session).flatMap(({ role, content }) => (role === 'user' ? [content] : [])),
    isLeaving: false,
    tasks: new Set(),
  }
}

/** True when the person leaves. */
async function answer(talk: Talk, typed: PromptAnswer): Promise<boolean> {
  if (typed === 'end') return true
  if (typed !== 'interrupt') return answerLine(talk, typed.line.trim())
  if (talk.isLeaving) return true
  talk.isLeaving = true
  talk.context.terminal.note('press Ctrl-C again to leave')
  return false
}

/** True when the person wants to leave. */
async function answerLine(talk: Talk, line: string): Promise<boolean> {
  talk.isLeaving = false
  if (line === '') return false
  const command = parseCommand(line)
  try {
    if (command !== undefined) return await runSlashCommand(talk, command)
    await takeTurn(talk, line)
  } catch (error) {
    const { terminal } = talk.context
    terminal.note(`${terminal.colors.red('error:')} ${messageOf(error)}`)
  }
  return false
}

async function takeTurn(talk: Talk, message: string): Promise<void> {
  const { client, context, prompt, request, sessionId, quiet, tasks } = talk
  talk.history.push(message)
  const end = await sendChatMessage(client, { ...request, sessionId, message }, { context, quiet, prompt, tasks })
  talk.sessionId = end.sessionId
  talk.answering = end.answering ?? talk.answering
  talk.isLeaving = end.outcome === 'cancelled'
  reportEnd(end, { context, quiet })
}

/** What went wrong, if anything; on a terminal also time, tokens and cost. */
export function reportEnd(
  { outcome, error, usage }: TurnEnd,
  { context: { terminal }, quiet }: { context: CliContext; quiet?: boolean | undefined },
): void {
  const { dim, red } = terminal.colors
  if (outcome === 'cancelled') terminal.note(dim('cancelled'))
  if (error !== undefined) terminal.note(`${red('error:')} ${error.message}`)
  if (usage !== undefined && terminal.showsBoth && quiet !== true) terminal.note(dim(describeTurn(usage)))
}
