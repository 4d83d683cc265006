// Lines of a conversation that start with a slash, and what they do.

import { getUsage } from '../../contract/api/budgets/usage.ts'
import { listTasks } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { findNearest } from '../objects/nearest.ts'
import { formatItems } from '../output/answers.ts'
import { listNewest } from '../output/paging.ts'
import { taskColumns } from '../output/task-table.ts'
import { answerModel, answerProvider } from './answering.ts'
import { describeSpending, sumItems } from './spending.ts'
import { describeSession, findSession, readEntries, type Talk } from './talk.ts'

type Command = {
  /** The argument, as help shows it. */
  argument?: string
  help: string
  /** True when the person leaves. */
  run(talk: Talk, argument: string): Promise<boolean | undefined> | boolean | undefined
}

const leave: Command = { help: 'leave (also Ctrl-D)', run: () => true }

const commands: Record<string, Command> = {
  help: { help: 'these commands', run: (talk) => say(talk, describeCommands()) },
  model: { argument: '[NAME]', help: 'the model that answers, or another one from now on', run: answerModel },
  provider: { argument: '[NAME]', help: 'the provider that answers, or another one from now on', run: answerProvider },
  cost: { help: 'tokens and cost of the session so far', run: showCost },
  tasks: { help: 'the tasks that the session started', run: showTasks },
  history: { help: 'the conversation so far', run: showHistory },
  session: {
    help: 'the name of the session, and how to resume it',
    run: (talk) => say(talk, describeSession(talk)),
  },
  new: { help: 'start a new session', run: beginAnew },
  quit: leave,
}

const aliases: Record<string, Command> = { exit: leave }

const keys = `A line that begins with // is sent as text. A pasted text is one message. Alt+Enter or Ctrl-J begins a line within a
message. What is typed while an answer comes is kept for the next question. Ctrl-C ends the turn that runs; pressed twice
it leaves. The arrow keys bring back what was typed.`

const width = 20

function describeCommands(): string {
  const lines = Object.entries(commands).map(([name, { argument = '', help }]) => {
    return `  ${`/${name} ${argument}`.padEnd(width)}${help}`
  })
  return [...lines, '', keys].join('\n')
}

/** A line with a word after a single slash: `/etc/hosts` is text, and so are `//` and messages of several lines. */
const shape = /^\/([^\s/]+)(?:[ \t]+(.*))?$/

/** The command in a line, with its argument; undefined for a message. */
export function parseCommand(line: string): { name: string; argument: string } | undefined {
  const [, name, argument = ''] = shape.exec(line) ?? []
  return name === undefined ? undefined : { name, argument: argument.trim() }
}

/** True when the person leaves. */
export async function runCommand(talk: Talk, { name, argument }: { name: string; argument: string }): Promise<boolean> {
  const known = { ...commands, ...aliases }
  const command = Object.hasOwn(known, name) ? known[name] : undefined
  if (command === undefined) {
    // The arrow key brings it back for correction.
    talk.history.push(`/${name} ${argument}`.trimEnd())
    say(talk, describeUnknown(name))
    return false
  }
  return (await command.run(talk, argument)) === true
}

function describeUnknown(name: string): string {
  const nearest = findNearest(name, Object.keys(commands))
  const hint = nearest === undefined ? '/help shows what there is.' : `did you mean /${nearest}?`
  return `there is no command /${name}; ${hint} A line that begins with // is sent as text.`
}

function say({ context }: Talk, text: string): undefined {
  context.terminal.note(text)
}

function beginAnew(talk: Talk): undefined {
  const { provider, model } = talk.request
  talk.sessionId = undefined
  talk.answering = { provider, model }
}

async function readSession({ client, request, sessionId }: Talk) {
  return findSession(client, { ...request, sessionId })
}

async function showHistory(talk: Talk): Promise<undefined> {
  const { bold } = talk.context.terminal.colors
  const entries = readEntries(await readSession(talk))
  if (entries.length === 0) return say(talk, 'nothing was said yet')
  for (const { role, name, content } of entries) {
    say(talk, `${bold(name === undefined ? role : `${role} ${name}`)}: ${content}`)
  }
}

async function showCost(talk: Talk): Promise<undefined> {
  const { client, sessionId, request } = talk
  const session = await findSession(client, { ...request, sessionId }, 1)
  if (session === undefined) return say(talk, 'nothing was used yet')
  const { name, namespace } = session
  const { items } = await client.call(getUsage, { query: { namespace, groupBy: 'session', name } })
  say(talk, items.length === 0 ? 'nothing was used yet' : describeSpending(sumItems(items)))
}

async function showTasks(talk: Talk): Promise<undefined> {
  const { client, sessionId, request, context } = talk
  const query = { namespace: request.namespace, labelSelector: `svc.ai/chat-session=${sessionId}` }
  const items = sessionId === undefined ? [] : (await listNewest<Task>(client, listTasks, { query })).items
  if (items.length === 0) return say(talk, 'the session has started no tasks')
  say(talk, formatItems(items, taskColumns(context.now()), { width: context.terminal.width }))
}
