import { expect, it } from 'vitest'
import type { UsageQuery, UsageSum } from '../../ports/budgets/usage.ts'
import { createHourlyUse } from './overview.ts'

const since = new Date('2026-01-31T00:00:00Z')

function open(start: string) {
  let now = new Date(start)
  const queries: UsageQuery[] = []
  let fails = false
  const usage = {
    async sum(query: UsageQuery): Promise<UsageSum[]> {
      queries.push(query)
      if (fails) throw new Error('away')
      const key = `${query.since?.toISOString()} ${query.until?.toISOString() ?? 'now'}`
      return [{ key, inputTokens: 1, outputTokens: 1, cachedTokens: 0, llmCalls: 1 }]
    },
  }
  const use = createHourlyUse(usage, { now: () => now })
  return {
    queries,
    read: async (namespaces?: string[]) => (await use.sum(since, namespaces)).map(({ key }) => key),
    move: (to: string) => {
      now = new Date(to)
    },
    break: (isBroken: boolean) => {
      fails = isBroken
    },
  }
}
const midnight = '2026-01-31T00:00:00.000Z'

it('reads what is over once an hour, and what can still change each time', async () => {
  const use = open('2026-01-31T12:30:00Z')
  const noon = '2026-01-31T12:00:00.000Z'
  const expected = [`${midnight} ${noon}`, `${noon} now`]
  expect(await use.read()).toEqual(expected)
  expect(await use.read()).toEqual(expected)
  expect(use.queries).toHaveLength(3)
  use.move('2026-01-31T13:09:59Z')
  expect(await use.read()).toEqual(expected)
  use.move('2026-01-31T13:10:00Z')
  const one = '2026-01-31T13:00:00.000Z'
  expect(await use.read()).toEqual([`${midnight} ${one}`, `${one} now`])
})

it('keeps the sums of namespaces apart', async () => {
  const use = open('2026-01-31T12:30:00Z')
  await use.read(['one'])
  await use.read(['two'])
  await use.read()
  await use.read(['one'])
  expect(use.queries.filter(({ until }) => until !== undefined).map(({ namespaces }) => namespaces)).toEqual([
    ['one'],
    ['two'],
    undefined,
  ])
})

it('asks again for what could not be read', async () => {
  const use = open('2026-01-31T12:30:00Z')
  use.break(true)
  await expect(use.read()).rejects.toThrow('away')
  use.break(false)
  expect(await use.read()).toHaveLength(2)
})
