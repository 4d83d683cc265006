// What every store of the audit log does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditRecord } from '../../src/ports/identity/audit.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const start = Date.parse('2026-01-01T00:00:00.000Z')

function makeRecord(number: number, more: Partial<AuditRecord> = {}): AuditRecord {
  const id = `aud-${String(number).padStart(6, '0')}`
  const createdAt = new Date(start + number * 1000).toISOString()
  return { id, createdAt, via: 'api', verb: 'create', allowed: true, ...more }
}

export function describeAudit(name: string, open: OpenBench): void {
  describe(`the audit log on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const audit = () => bench().stores().audit
    const idsOf = (records: AuditRecord[]) => records.map(({ id }) => Number(id.slice(4)))
    const list = async (query = {}) => idsOf(await audit().list({ limit: 100, ...query }))

    async function readPages(limit: number): Promise<number[]> {
      const seen: number[] = []
      let before: { createdAt: string; id: string } | undefined
      for (;;) {
        const page = await audit().list({ limit, ...(before && { before }) })
        const last = page.at(-1)
        if (last === undefined) return seen
        seen.push(...idsOf(page))
        before = { createdAt: last.createdAt, id: last.id }
      }
    }

    it('returns what was added, newest first, also after a restart', async () => {
      const full: AuditRecord = makeRecord(2, {
        caller: { kind: 'oidc', id: 'https://login.test#s-1', name: 'ann' },
        kind: 'Secret',
        namespace: 'team',
        name: 'key',
        route: '/api/v1/secrets/:name',
        address: '::1',
        allowed: false,
        status: 403,
        requestId: 'req-1',
        session: 'chat-1',
        taskUid: 'uid-1',
      })
      await audit().append([makeRecord(1), full])
      await bench().reopen()
      expect(await audit().list({ limit: 10 })).toEqual([full, makeRecord(1)])
    })

    it('stores a record once when a batch is sent again', async () => {
      await audit().append([makeRecord(1), makeRecord(2)])
      await audit().append([makeRecord(2), makeRecord(3)])
      await audit().append([])
      expect(await list()).toEqual([3, 2, 1])
    })

    it('filters by each field, by time, and by several together', async () => {
      const ann = { kind: 'token', id: 'tok-1', name: 'ann' } as const
      await audit().append([
        makeRecord(1, { caller: ann, namespace: 'a', kind: 'Task' }),
        makeRecord(2, { caller: { ...ann, id: 'tok-2' }, namespace: 'a', kind: 'Secret', allowed: false }),
        makeRecord(3, { caller: { ...ann, name: 'renamed' }, namespace: 'b', verb: 'delete', kind: 'Task' }),
        makeRecord(4),
      ])
      expect(await list({ caller: 'tok-1' })).toEqual([3, 1])
      expect(await list({ caller: 'ann' })).toEqual([])
      expect(await list({ namespace: 'a' })).toEqual([2, 1])
      expect(await list({ kind: 'Task', verb: 'create' })).toEqual([1])
      expect(await list({ allowed: false })).toEqual([2])
      expect(await list({ allowed: true })).toEqual([4, 3, 1])
      expect(await list({ since: new Date(start + 2000), until: new Date(start + 4000) })).toEqual([3, 2])
      expect(await list({ caller: 'nobody' })).toEqual([])
    })

    it('lists every record on exactly one page, also records of the same moment', async () => {
      const createdAt = new Date(start).toISOString()
      const records = Array.from({ length: 25 }, (_, at) => makeRecord(at, at < 20 ? { createdAt } : {}))
      await audit().append(records)
      const seen = await readPages(7)
      expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => 24 - at))
    })

    it('keeps any text as it is', async () => {
      const records = hardTexts.map((text, at) =>
        makeRecord(at, { caller: { kind: 'token', id: text, name: text }, name: text, namespace: text, session: text }),
      )
      await audit().append(records)
      expect(await audit().list({ limit: 100 })).toEqual(records.toReversed())
      for (const [at, text] of hardTexts.entries()) expect(await list({ caller: text })).toEqual([at])
    })

    it('finds a record without a caller id by the caller’s name, and no newer record by it', async () => {
      await audit().append([
        makeRecord(1, { caller: { kind: 'token', name: 'ann' } }),
        makeRecord(2, { caller: { kind: 'token', id: 'tok-2', name: 'ann' } }),
      ])
      expect(await audit().list({ limit: 10, caller: 'ann' })).toMatchObject([
        { caller: { kind: 'token', name: 'ann' } },
      ])
      expect(await list({ caller: 'tok-2' })).toEqual([2])
    })

    it('adds a batch completely or not at all', async () => {
      const broken = makeRecord(2, { verb: null as never })
      await expect(audit().append([makeRecord(1), broken])).rejects.toThrow()
      expect(await list()).toEqual([])
    })

    it('sweeps records older than a given time', async () => {
      await audit().append(Array.from({ length: 2500 }, (_, at) => makeRecord(at)))
      expect(await audit().sweep(new Date(start + 2498 * 1000))).toBe(2498)
      expect(await list()).toEqual([2499, 2498])
    })
  })
}
