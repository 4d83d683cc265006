import { describe, expect, it } from 'vitest'
import type { Client } from '../../../client/client.ts'
import type { PromptAnswer } from '../../../client/machine.ts'
import {
  applyMemoryProposal,
  listMemoryProposals,
  reviewMemoryProposal,
} from '../../../contract/api/memory/memory-proposals.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'
import { reviewQueue } from './proposal-queue.ts'

type Asked = { params: { id: string }; body: object }

const pendingOf = (id: string, more: object = {}) => ({
  id,
  type: 'memory',
  title: `About ${id}`,
  content: `Fact ${id}.`,
  ...more,
})

/** Goes through proposals, newest first as the service lists them, with a person who types these lines. */
async function goThrough(
  newestFirst: object[],
  typed: (string | PromptAnswer)[],
  fail: (id: string) => void = () => {},
) {
  const calls: [string, string, object][] = []
  const noted: string[] = []
  let open = 0
  const client = {
    async call(route: unknown, { params, body }: Asked) {
      if (route === listMemoryProposals) return { items: newestFirst }
      fail(params.id)
      if (route === reviewMemoryProposal) calls.push(['review', params.id, body])
      if (route === applyMemoryProposal) calls.push(['apply', params.id, body])
      return { id: `mem-${params.id}` }
    },
  } as unknown as Client
  const context = {
    terminal: { print: (text: string) => void noted.push(text), note: (text: string) => void noted.push(text) },
    openPrompt: () => {
      open += 1
      return {
        ask: async () => {
          const next = typed.shift() ?? 'end'
          return next === 'end' || next === 'interrupt' || typeof next === 'object' ? next : { line: next }
        },
        close: () => {
          open -= 1
        },
      }
    },
    editText: async (text: string) => {
      expect(open).toBe(0)
      return `${text.replace('nearly', 'exactly').replace('Fact nothing.', ' ')}\n`
    },
  } as unknown as CliContext
  await reviewQueue(client, { context, query: {} })
  expect(open).toBe(0)
  return { calls, noted: noted.join('\n') }
}

describe('a queue of proposals', () => {
  it('shows the oldest first, and accepts, edits, rejects and skips', async () => {
    const newestFirst = ['last', 'unsure', 'bad', 'nearly', 'good'].map((id) => pendingOf(id))
    const { calls, noted } = await goThrough(newestFirst, ['what?', 'a', 'edit as ada says', 'R not true', 's', 'q'])
    expect(calls).toEqual([
      ['review', 'good', { status: 'accepted' }],
      ['apply', 'good', {}],
      ['review', 'nearly', { status: 'accepted', reviewNote: 'as ada says' }],
      ['apply', 'nearly', { content: 'Fact exactly.' }],
      ['review', 'bad', { status: 'rejected', reviewNote: 'not true' }],
    ])
    expect(noted).toMatch(
      /good \(1 of 5\)[\s\S]*proposal good applied: memory mem-good[\s\S]*nearly \(2 of 5\)[\s\S]*1 left/,
    )
  })

  it('accepts what is no memory without making one, and edits only memories', async () => {
    const { calls, noted } = await goThrough([pendingOf('skill', { type: 'skill' })], ['e', 'accept'])
    expect(calls).toEqual([['review', 'skill', { status: 'accepted' }]])
    expect(noted).toContain('only the text of a memory can be edited')
  })

  it('decides nothing by an emptied text, nor by Ctrl-C and Ctrl-D', async () => {
    for (const end of ['interrupt', 'end'] as const) {
      const { calls, noted } = await goThrough([pendingOf('nothing')], ['e', end])
      expect(calls).toEqual([])
      expect(noted).toMatch(/the text is empty[\s\S]*1 left/)
    }
  })

  it('goes on when somebody else has decided meanwhile, and ends when the service is away', async () => {
    const taken = (id: string) => {
      if (id === 'taken') throw new SvcError('Conflict', 'the proposal is accepted and cannot be rejected')
    }
    const { calls, noted } = await goThrough([pendingOf('next'), pendingOf('taken')], ['r', 'r'], taken)
    expect(noted).toMatch(/is accepted and cannot be rejected[\s\S]*next \(2 of 2\)[\s\S]*no more proposals/)
    expect(calls).toEqual([['review', 'next', { status: 'rejected' }]])
    const away = () => {
      throw new SvcError('Unavailable', 'away')
    }
    await expect(goThrough([pendingOf('one')], ['a'], away)).rejects.toThrow('away')
  })

  it('says when nothing is pending, and what to type without a terminal', async () => {
    expect((await goThrough([], [])).noted).toBe('no proposals are pending')
    const context = { openPrompt: undefined } as unknown as CliContext
    await expect(reviewQueue({} as Client, { context, query: {} })).rejects.toThrow('needs a terminal')
  })
})
