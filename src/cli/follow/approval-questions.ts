// What tasks that somebody watches ask for: put to the person in place on a terminal, else said with the commands that answer.
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import type { LinePrompt } from '../../client/machine.ts'
import {
  type ApprovalItem,
  type ApprovalScope,
  approvalScopes,
  approve,
  decline,
  listApprovals,
  networkTool,
} from '../../contract/api/tasks/approvals.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { waitUnlessAborted } from '../../lib/abort.ts'
import type { CliContext } from '../context.ts'

const everyMs = 1000
const maxOpen = 100

type Asking = {
  client: Client
  context: CliContext
  namespace: string | undefined
  /** Nothing is asked any more after it. */
  signal: AbortSignal
  /** The names of the tasks that are watched; empty: nobody has to be asked for now. */
  names(): ReadonlySet<string>
  /** Keeps what else is shown away from the question; the answer ends that. */
  suspend(): () => void
  /** One that is open already. Absent: a new one for each question. */
  prompt?: LinePrompt
}

/** Looks for questions until the signal. Whoever may not see or answer them is not troubled by that. */
export async function answerApprovals(asking: Asking): Promise<void> {
  const { signal, names } = asking
  const seen = new Set<string>()
  const always = new Set<string>()
  while (!signal.aborted) {
    const open = names().size === 0 ? [] : await listOpen(asking)
    for (const item of open.filter(({ id, taskName }) => !seen.has(id) && names().has(taskName))) {
      if (signal.aborted) return
      seen.add(item.id)
      await settle(item, always, asking)
    }
    await pause(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

async function listOpen({ client, namespace }: Asking): Promise<ApprovalItem[]> {
  const query = { ...(namespace !== undefined && { namespace }), status: 'pending' as const, limit: maxOpen }
  return client.call(listApprovals, { query }).then(
    ({ items }) => items.toReversed(),
    () => [],
  )
}

export const isOfHost = ({ tool }: ApprovalItem) => tool === networkTool

function describeQuestion({ taskName, message, tool, arguments: args }: ApprovalItem): string {
  const call = tool === 'request_approval' || tool === networkTool ? '' : `\n  ${tool} ${JSON.stringify(args)}`
  return `task ${taskName} asks: ${message}${call}`
}

/** The two commands that answer. */
export function describeCommands(item: ApprovalItem): string {
  const { id } = item
  const scopes = isOfHost(item) ? ` --for ${approvalScopes.join('|')}` : ''
  return `${commandHint(`approvals approve ${id}${scopes}`)}, or ${commandHint(`approvals decline ${id} --reason TEXT`)}`
}

async function settle(item: ApprovalItem, always: Set<string>, asking: Asking): Promise<void> {
  const { context } = asking
  const { terminal } = context
  const release = asking.suspend()
  try {
    terminal.note(describeQuestion(item))
    const put = isOfHost(item) ? askAboutHost : askAboutCall
    const answer = !isOfHost(item) && always.has(item.taskName) ? 'yes' : await put(asking)
    if (answer === undefined) return terminal.note(`answer it: ${describeCommands(item)}`)
    if (answer === 'always' && !isOfHost(item)) always.add(item.taskName)
    await send(item, answer, asking)
  } finally {
    release()
  }
}

type Answer = 'yes' | 'no' | ApprovalScope

/** What is typed, in lower case. Undefined where nobody can be asked, or who is asked goes away. */
async function ask(text: string, { context: { openPrompt }, prompt, signal }: Asking): Promise<string | undefined> {
  const opened = prompt ?? openPrompt?.()
  if (opened === undefined) return undefined
  const typed = await waitUnlessAborted(opened.ask(text, []), signal).finally(() => prompt ?? opened.close())
  return typeof typed === 'object' ? typed.line.trim().toLowerCase() : undefined
}

async function askAboutCall(asking: Asking): Promise<Answer | undefined> {
  const word = await ask('allow it? [y/N/always for this task] ', asking)
  if (word === undefined) return undefined
  if (/^a(lways)?$/.test(word)) return 'always'
  return /^y(es)?$/.test(word) ? 'yes' : 'no'
}

async function askAboutHost(asking: Asking): Promise<Answer | undefined> {
  const word = await ask('allow it? [once/task/always/N] ', asking)
  if (word === undefined) return undefined
  return approvalScopes.find((scope) => word === scope || word === scope[0]) ?? (/^y(es)?$/.test(word) ? 'task' : 'no')
}

async function send(
  item: ApprovalItem,
  answer: Answer,
  { client, namespace, context: { terminal } }: Asking,
): Promise<void> {
  const { id } = item
  const scope = isOfHost(item) ? approvalScopes.find((one) => one === answer) : undefined
  try {
    const query = namespace === undefined ? {} : { namespace }
    const target = { params: { id }, query }
    const { status } =
      answer === 'no'
        ? await client.call(decline, { ...target, body: {} })
        : await client.call(approve, { ...target, body: { ...(scope && { scope }) } })
    terminal.note(`approval ${id} ${status}`)
  } catch (error) {
    const why = isSvcError(error, 'Conflict') ? 'it has an answer already' : messageOf(error)
    terminal.note(`approval ${id}: ${why}`)
  }
}
