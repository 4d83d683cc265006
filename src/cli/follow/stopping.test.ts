import { describe, expect, it } from 'vitest'
import type { Client } from '../../client/client.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { mayStop } from './stopping.ts'

const options: GlobalOptions = { output: 'table', settings: {} } as unknown as GlobalOptions

function contextOf(connect: () => Promise<Partial<Client>>): { context: CliContext; notes: string[] } {
  const notes: string[] = []
  const terminal = { note: (text: string) => notes.push(text) }
  return { context: { connect, terminal, openPrompt: undefined } as unknown as CliContext, notes }
}
const answering = (items: object[]) => contextOf(async () => ({ call: (async () => ({ items })) as never }))
const busy = () =>
  contextOf(async () => ({
    call: (async () => {
      throw new SvcError('Unavailable', 'too much to do')
    }) as never,
  }))

describe('before a service is stopped', () => {
  it('nothing is asked where none runs, or nothing runs in it', async () => {
    const away = contextOf(async () => {
      throw new SvcError('Unavailable', 'no service runs here')
    })
    expect(await mayStop(away.context, options, {})).toBe(true)
    expect(await mayStop(answering([]).context, options, {})).toBe(true)
  })

  it('what runs is listed, and stopped with --yes only where nobody can be asked', async () => {
    const { context, notes } = answering([{}])
    await expect(mayStop(context, options, {})).rejects.toThrow(/1 task runs.*--yes/)
    expect(await mayStop(context, options, { yes: true })).toBe(true)
    expect(notes).toEqual([expect.stringContaining('1 task runs')])
  })

  it('one that is too busy to say what runs is not taken for an idle one', async () => {
    await expect(mayStop(busy().context, options, {})).rejects.toThrow(/does not say whether tasks run.*--yes/)
    expect(await mayStop(busy().context, options, { yes: true })).toBe(true)
  })
})
