import { expect, it } from 'vitest'
import type { UsageRecord } from '../ports/budgets/usage.ts'
import type { Records } from '../ports/index.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import { countedUsage } from './counted-usage.ts'

function open() {
  const stored: unknown[] = []
  const counted: { namespace: string; provider: string; inputTokens: number }[] = []
  const records = {
    usage: { record: async (records: readonly UsageRecord[]) => void stored.push(...records) },
    ends: { store: async ({ usage }: { usage: readonly UsageRecord[] }) => void stored.push(...usage) },
  } as unknown as Pick<Records, 'usage' | 'ends'>
  const known = ['team/own', 'other/shared']
  const resources = {
    get: async (_kind: string, { namespace, name }: { namespace: string; name: string }) =>
      known.includes(`${namespace}/${name}`) ? {} : undefined,
  } as unknown as ResourceReader
  const count = ({ namespace, provider, inputTokens }: (typeof counted)[number]) =>
    void counted.push({ namespace, provider, inputTokens })
  return { stored, counted, ...countedUsage(records, resources, count as never) }
}

const makeRecord = (provider: string) => ({ namespace: 'team', provider, inputTokens: 7 }) as unknown as UsageRecord

it('counts each recorded call in the metrics, also those that come with the end of an attempt', async () => {
  const { stored, counted, usage, ends } = open()
  await usage.record([makeRecord('own')])
  await ends.store({ usage: [makeRecord('other/shared')] } as never)
  expect(stored).toHaveLength(2)
  expect(counted).toEqual([
    { namespace: 'team', provider: 'own', inputTokens: 7 },
    { namespace: 'other', provider: 'shared', inputTokens: 7 },
  ])
})

it('counts nothing that was not stored', async () => {
  const { counted, ends } = open()
  await expect(ends.store(undefined as never)).rejects.toThrow()
  expect(counted).toEqual([])
})
