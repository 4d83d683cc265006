// How SQLite finds pages of findings: through one index, in its order, whatever they are filtered by.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import type { Reader } from '../../src/store/database/database.ts'
import { createFindings } from '../../src/store/scans/findings.ts'
import { openSqlite } from '../../src/store/sqlite/database.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-plans-'))
const database = openSqlite({ path: join(home, 'svc.db') })
afterAll(async () => {
  await database.close()
  rmSync(home, { recursive: true, force: true })
})

const filters = { category: 'c', state: 'open', validationStatus: 'failed', severity: 'high' } as const
/** The filter whose index is chosen stands before the others. */
const indexes = { category: 'category', state: 'state', validationStatus: 'validation', severity: 'severity' } as const
type Name = keyof typeof filters
const names = Object.keys(filters) as Name[]
const cases = Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_name, at) => bits & (2 ** at)))

it.each(cases)('reads pages of findings by %s %s %s %s through one index, in its order', async (...given: Name[]) => {
  const plans: string[] = []
  const explaining: Reader = {
    ...database.read,
    async all({ text, parameters }) {
      const plan = await database.read.all<{ detail: string }>({ text: `explain query plan ${text}`, parameters })
      plans.push(plan.map(({ detail }) => detail).join(', '))
      return []
    },
  }
  const store = createFindings({ database: { ...database, read: explaining }, clock })
  const filter = Object.fromEntries(given.map((name) => [name, filters[name]]))
  const [first] = given
  const [byChange, byRank] = first === undefined ? ['change', 'rank'] : [indexes[first], `${indexes[first]}_rank`]
  for (const recommended of [false, true]) {
    await store.list('uid', { ...filter, recommended, limit: 50 })
    await store.list('uid', { ...filter, recommended, limit: 50, after: { order: '4', id: 'fnd_1' } })
  }
  const search = (index: string) =>
    expect.stringMatching(new RegExp(`^SEARCH findings USING INDEX findings_by_${index} [^,]*$`))
  const within = (index: string) =>
    expect.stringMatching(new RegExp(`^SEARCH findings USING INDEX findings_by_${index} .*,id\\)<\\(\\?,\\?\\)\\)$`))
  expect(plans).toEqual([search(byChange), within(byChange), search(byRank), within(byRank)])
})
