import { expect, it } from 'vitest'
import type { Finding, Findings } from '../ports/scans/findings.ts'
import { listEachFinding } from './scans.ts'

/** A store whose findings change while they are listed: each page that is read moves the oldest one to the front. */
function openMoving(count: number): Pick<Findings, 'list'> {
  let times = Array.from({ length: count }, (_, at) => ({ id: `f${at}`, at: 1000 + at }))
  let moves = 3
  return {
    async list(_uid, { limit, after }) {
      const sorted = times.toSorted((a, b) => b.at - a.at)
      const rest = after === undefined ? sorted : sorted.filter(({ at }) => at < Number(after.order))
      const items = rest.slice(0, limit).map(({ id, at }) => ({ id, updatedAt: String(at) }) as Finding)
      const last = items.at(-1)
      const oldest = sorted.at(-1)
      if (moves-- > 0) times = times.map((one) => (one === oldest ? { ...one, at: 9000 - moves } : one))
      return rest.length > limit && last ? { items, next: { order: last.updatedAt, id: last.id } } : { items }
    },
  }
}

it('lists each finding once, also those that change meanwhile', async () => {
  const ids: string[] = []
  for await (const { id } of listEachFinding(openMoving(900), 'uid')) ids.push(id)
  expect(ids).toHaveLength(900)
  expect(new Set(ids).size).toBe(900)
})

it('lists nothing of a scan without findings', async () => {
  for await (const finding of listEachFinding({ list: async () => ({ items: [] }) }, 'uid'))
    expect(finding).toBe('none')
})
