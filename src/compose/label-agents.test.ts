import { describe, expect, it } from 'vitest'
import { warnOfMissingAgents } from './label-agents.ts'

describe('agents that labels start', () => {
  it('that are not there are named at the start', async () => {
    const warned: unknown[] = []
    const log = { warn: (fields: unknown) => void warned.push(fields) }
    const resources = { get: async (_kind: string, { name }: { name: string }) => (name === 'fixer' ? {} : undefined) }
    const settings = { namespace: 'team', agent: 'fixer', agents: { review: 'reviwer', repair: 'fixer' } }
    await warnOfMissingAgents(resources as never, settings, log as never)
    expect(warned).toEqual([{ agent: 'team/reviwer' }])
  })
})
