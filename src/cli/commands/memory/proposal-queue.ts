// Pending proposals one after the other, the oldest first, each decided with a key.
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import type { LinePrompt, OpenPrompt } from '../../../client/machine.ts'
import {
  applyMemoryProposal,
  listMemoryProposals,
  type MemoryProposal,
  reviewMemoryProposal,
} from '../../../contract/api/memory/memory-proposals.ts'
import { isSvcError, messageOf, SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'

type Queue = { context: CliContext; query: { namespace?: string } }
type Desk = Queue & { client: Client; keyboard: Keyboard }

const choices = '[a]ccept, [e]dit, [r]eject, [s]kip, [q]uit; a reason may follow: '
const maxAtOnce = 200

export function describeProposal(item: MemoryProposal): string {
  const decision = item.reviewer === undefined ? '' : ` by ${item.reviewer}`
  const note = item.reviewNote === undefined ? '' : `: ${item.reviewNote}`
  const made = item.appliedMemoryId === undefined ? [] : [`memory: ${item.appliedMemoryId}`]
  const texts = [item.title, item.content, item.description, item.patch].filter((text) => text !== undefined)
  return [...texts.flatMap((text) => [text, '']), `${item.type}, ${item.status}${decision}${note}`, ...made].join('\n')
}

/** What was typed: the first letter of a choice or its whole name, and a reason. Undefined: nothing of the sort. */
function readChoice(line: string): { choice: string; reviewNote?: string } | undefined {
  const [, word = '', reason = ''] = /^([a-z]+)([\s\S]*)$/i.exec(line.trim()) ?? []
  const choice = ['accept', 'edit', 'reject', 'skip', 'quit'].find(
    (name) => name === word.toLowerCase() || name[0] === word.toLowerCase(),
  )
  return choice === undefined ? undefined : { choice, ...(reason.trim() !== '' && { reviewNote: reason.trim() }) }
}

type Keyboard = ReturnType<typeof openKeyboard>

/** One prompt for the whole queue, so that nobody need wait before typing the next decision. */
function openKeyboard(openPrompt: OpenPrompt) {
  let prompt: LinePrompt | undefined
  const close = () => {
    prompt?.close()
    prompt = undefined
  }
  return {
    close,
    /** Ctrl-C and Ctrl-D quit. */
    async ask(): Promise<{ choice: string; reviewNote?: string }> {
      for (;;) {
        prompt ??= openPrompt()
        const answer = await prompt.ask(choices, [])
        if (typeof answer === 'string') return { choice: 'quit' }
        const read = readChoice(answer.line)
        if (read !== undefined) return read
      }
    },
  }
}

type Decision = { status: 'accepted' | 'rejected'; reviewNote?: string | undefined }

async function decide({ client, context, query }: Desk, { id }: MemoryProposal, decision: Decision): Promise<void> {
  await client.call(reviewMemoryProposal, { params: { id }, query, body: decision })
  context.terminal.note(`proposal ${id} ${decision.status}`)
}

/** A memory is made at once; of another proposal somebody has to make something. */
async function accept(desk: Desk, item: MemoryProposal, more: { content?: string; reviewNote?: string | undefined }) {
  const { client, context, query } = desk
  const { content, reviewNote } = more
  await decide(desk, item, { status: 'accepted', reviewNote })
  if (item.type !== 'memory') return
  const body = content === undefined ? {} : { content }
  const memory = await client.call(applyMemoryProposal, { params: { id: item.id }, query, body })
  context.terminal.note(`proposal ${item.id} applied: memory ${memory.id}`)
}

/** An emptied text decides nothing. */
async function edit(desk: Desk, item: MemoryProposal, reviewNote: string | undefined): Promise<boolean> {
  const { terminal } = desk.context
  if (item.type !== 'memory') {
    terminal.note(`only the text of a memory can be edited, and this is a proposal of type ${item.type}`)
    return false
  }
  // The editor has the keyboard now.
  desk.keyboard.close()
  const content = (await desk.context.editText(item.content ?? '', `${item.id}.md`)).replace(/\n$/, '')
  if (content.trim() === '') {
    terminal.note('the text is empty: nothing was decided')
    return false
  }
  await accept(desk, item, { reviewNote, ...(content !== item.content && { content }) })
  return true
}

/** False: not decided yet, ask again. What somebody else decided meanwhile is printed, and stays so. */
async function tryChoice(
  desk: Desk,
  item: MemoryProposal,
  answer: { choice: string; reviewNote?: string },
): Promise<boolean> {
  try {
    return await applyChoice(desk, item, answer)
  } catch (error) {
    if (!isSvcError(error) || !['Conflict', 'NotFound', 'InvalidRequest'].includes(error.reason)) throw error
    desk.context.terminal.note(messageOf(error))
    return error.reason !== 'InvalidRequest'
  }
}

async function applyChoice(desk: Desk, item: MemoryProposal, answer: { choice: string; reviewNote?: string }) {
  const { choice, reviewNote } = answer
  if (choice === 'edit') return edit(desk, item, reviewNote)
  if (choice === 'accept') await accept(desk, item, { reviewNote })
  if (choice === 'reject') await decide(desk, item, { status: 'rejected', reviewNote })
  return true
}

/** False: no more of them. */
async function reviewOne(desk: Desk, item: MemoryProposal): Promise<boolean> {
  for (;;) {
    const answer = await desk.keyboard.ask()
    if (answer.choice === 'quit') return false
    if (await tryChoice(desk, item, answer)) return true
  }
}

async function goThrough(desk: Desk): Promise<void> {
  const { client, query } = desk
  const { terminal } = desk.context
  const { items } = await client.call(listMemoryProposals, {
    query: { ...query, status: 'pending', limit: maxAtOnce },
  })
  const waiting = items.toReversed()
  for (const [at, item] of waiting.entries()) {
    terminal.print(
      `\n${item.id} (${at + 1} of ${waiting.length}), by ${item.agentName ?? item.createdBy?.name ?? 'somebody'}\n`,
    )
    terminal.print(describeProposal(item))
    if (await reviewOne(desk, item)) continue
    terminal.note(`${waiting.length - at} left`)
    return
  }
  terminal.note(waiting.length === 0 ? 'no proposals are pending' : 'no more proposals')
}

/** InvalidRequest where nobody can type. */
export async function reviewQueue(client: Client, { context, query }: Queue): Promise<void> {
  const { openPrompt } = context
  if (openPrompt === undefined) {
    const advice = `\`${commandHint('proposal list --status pending')}\` and \`${commandHint('proposal review ID --accept')}\``
    throw new SvcError('InvalidRequest', `going through proposals needs a terminal; without one use ${advice}`)
  }
  const keyboard = openKeyboard(openPrompt)
  try {
    await goThrough({ client, context, query, keyboard })
  } finally {
    keyboard.close()
  }
}
