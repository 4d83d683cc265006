import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../test/fixtures/cli/recording-context.ts'
import { waitFor } from '../../../test/fixtures/time.ts'
import type { PromptAnswer } from '../../client/machine.ts'
import { answerApprovals } from './approval-questions.ts'

const ask = (id: string, taskName = 'mine') => ({
  id,
  taskName,
  namespace: 'team',
  tool: 'delete_agent',
  arguments: { name: 'helper' },
  message: 'May I remove the agent helper?',
  status: 'pending',
})

/** What comes of these questions, the first of which is newest. */
async function settle(items: object[], typed: string[] | undefined, ended: (calls: string[]) => boolean) {
  const recording = recordContext({
    answers: {
      'GET /api/v1/approvals': { items, metadata: {} },
      'POST /api/v1/approvals/:id/approve': { status: 'approved' },
      'POST /api/v1/approvals/:id/decline': { status: 'declined' },
    },
  })
  const asked: string[] = []
  const held: string[] = []
  const prompt = {
    ask: async (question: string): Promise<PromptAnswer> => {
      asked.push(question)
      return { line: typed?.shift() ?? '' }
    },
    close: () => {},
  }
  const context = { ...recording.context, ...(typed && { openPrompt: () => prompt }) }
  const stop = new AbortController()
  const names = new Set(['mine'])
  const suspend = () => {
    held.push('suspend')
    return () => void held.push('release')
  }
  const client = await context.connect({ settings: {}, output: 'table' })
  const done = answerApprovals({ client, context, namespace: 'team', signal: stop.signal, names: () => names, suspend })
  const answers = () =>
    recording.calls.flatMap(({ route, input }) =>
      route.startsWith('POST') ? [`${route.split('/').at(-1)} ${(input.params as { id: string }).id}`] : [],
    )
  await waitFor(async () => ended([...answers(), ...recording.noted().split('\n')]), 'the answers')
  stop.abort()
  await done
  const bodies = recording.calls.flatMap(({ route, input }) => (route.startsWith('POST') ? [input.body] : []))
  return { answers: answers(), bodies, asked, held, noted: recording.noted() }
}

describe('what a task that is watched asks for', () => {
  it('is asked in place on a terminal, and a yes is given once for each question', async () => {
    const found = await settle([ask('b'), ask('a'), ask('other', 'theirs')], ['y', 'n'], (seen) =>
      seen.includes('decline b'),
    )
    expect(found.answers).toEqual(['approve a', 'decline b'])
    expect(found.asked).toHaveLength(2)
    expect(found.asked[0]).toContain('[y/N/always for this task]')
    expect(found.noted).toContain('task mine asks: May I remove the agent helper?\n  delete_agent {"name":"helper"}')
    expect(found.held).toEqual(['suspend', 'release', 'suspend', 'release'])
  })

  it('is declined by an empty line, and never asked again of a task that may always', async () => {
    expect((await settle([ask('a')], [''], (seen) => seen.includes('decline a'))).answers).toEqual(['decline a'])
    const always = await settle([ask('b'), ask('a')], ['always'], (seen) => seen.includes('approve b'))
    expect([always.answers, always.asked.length]).toEqual([['approve a', 'approve b'], 1])
  })

  it('goes as far as is typed where it is about a host, and is asked each time', async () => {
    const host = (id: string) => ({ ...ask(id), tool: 'network', arguments: { host: 'a.example:443' } })
    const items = [host('d'), host('c'), host('b'), host('a')]
    const found = await settle(items, ['always', 'once', 't', ''], (seen) => seen.includes('decline d'))
    expect(found.answers).toEqual(['approve a', 'approve b', 'approve c', 'decline d'])
    expect(found.bodies).toEqual([{ scope: 'always' }, { scope: 'once' }, { scope: 'task' }, {}])
    expect(found.asked).toEqual(items.map(() => 'allow it? [once/task/always/N] '))
    const untyped = await settle([host('a')], undefined, (seen) => seen.some((line) => line.startsWith('answer it')))
    expect(untyped.noted).toMatch(/approvals approve a --for once\|task\|always, or/)
  })

  it('is said with the commands that answer where nobody can type', async () => {
    const found = await settle([ask('a')], undefined, (seen) => seen.some((line) => line.startsWith('answer it')))
    expect(found.answers).toEqual([])
    expect(found.noted).toContain('task mine asks: May I remove the agent helper?')
    expect(found.noted).toMatch(/answer it: .*approvals approve a, or .*approvals decline a --reason TEXT/)
  })
})
