// What every store of scan runs, slices, dropped findings and threat models does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SliceDraft } from '../../src/contract/api/scans/runs.ts'
import type { PageQuery, RecordPage } from '../../src/ports/scans/scans.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export const scan = { uid: 'uid-1', namespace: 'default', name: 'shop' }
const again = { ...scan, uid: 'uid-2' }

export function makeSlice(id: string, more: Partial<SliceDraft> = {}): SliceDraft {
  return {
    schemaVersion: 1,
    id,
    source: 'deterministic-go-package',
    title: id,
    summary: id,
    kind: 'package',
    ownedFiles: [{ path: `${id}.go` }],
    confidence: 'high',
    ...more,
  }
}

/** Everything of a list, page by page. */
export async function readPages<T>(read: (page: PageQuery) => Promise<RecordPage<T>>, limit: number): Promise<T[][]> {
  const pages: T[][] = []
  let after: PageQuery['after']
  do {
    const page = await read({ limit, after })
    pages.push(page.items)
    after = page.next
  } while (after !== undefined)
  return pages
}

export function describeScans(name: string, open: OpenBench): void {
  describe(`scans on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const scans = () => bench().stores().scans
    const start = (id: string) => scans().startRun(scan, { id, mode: 'manual' })
    const end = (id: string) => scans().changeRun(scan.uid, id, { phase: 'succeeded' })

    it('has one run at a time, however many ask', async () => {
      const made = await Promise.allSettled(['a', 'b', 'c'].map(start))
      const [run] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { reason: 'Conflict' } })
      expect(await scans().activeRun(scan.uid)).toEqual(run)
      expect(await start(run?.id ?? '')).toEqual(run)
      expect(await scans().startRun(again, { id: 'a', mode: 'initial' })).toMatchObject({ mode: 'initial' })
      await end(run?.id ?? '')
      expect(await scans().activeRun(scan.uid)).toBeUndefined()
      expect(await start('d')).toMatchObject({ id: 'd', phase: 'pending', repositoryScan: 'shop', failedSlices: [] })
    })

    it('changes a run until it has ended, and keeps it over a restart', async () => {
      await start('a')
      await scans().changeRun(scan.uid, 'a', { phase: 'running', headCommit: 'c1' })
      const ended = await scans().changeRun(scan.uid, 'a', { phase: 'failed', errorMessage: hardTexts.join() })
      expect(ended).toMatchObject({ phase: 'failed', headCommit: 'c1' })
      expect(await scans().changeRun(scan.uid, 'a', { phase: 'running' })).toEqual(ended)
      expect(await scans().changeRun(scan.uid, 'b', { phase: 'running' })).toBeUndefined()
      // Validations and patches use something after the end of their run.
      await scans().countUsage(scan.uid, 'a', { tokens: 70, cost: 0.5 })
      await scans().countUsage(scan.uid, 'b', { tokens: 70, cost: 0.5 })
      await bench().reopen()
      expect(await scans().getRun(scan.uid, 'a')).toEqual({ ...ended, tokens: 70, cost: 0.5 })
      expect(await scans().getRun(again.uid, 'a')).toBeUndefined()
    })

    it('lists runs, the newest first, page by page', async () => {
      for (const id of ['a', 'b', 'c']) {
        await start(id)
        await end(id)
        bench().advance(1000)
      }
      const pages = await readPages((page) => scans().listRuns(scan.uid, page), 2)
      expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['c', 'b'], ['a']])
      expect(await readPages((page) => scans().listRuns(scan.uid, page), 3)).toHaveLength(1)
      expect(await readPages((page) => scans().listRuns(again.uid, page), 2)).toEqual([[]])
    })

    it('replaces the slices with those of a run, once', async () => {
      const cut = (run: string, ids: string[]) =>
        scans().cutSlices(
          scan,
          run,
          ids.map((id) => ({ ...makeSlice(id), status: 'pending' })),
        )
      await cut('r1', ['a', 'b'])
      await scans().changeSlice(scan.uid, 'a', { status: 'failed', error: hardTexts.join() })
      await cut('r1', ['a', 'b'])
      expect(await scans().getSlice(scan.uid, 'a')).toMatchObject({ status: 'failed', lastScanRunID: 'r1' })
      bench().advance(1000)
      await cut('r2', ['b', 'c'])
      expect(await scans().getSlice(scan.uid, 'a')).toBeUndefined()
      expect(await scans().getSlice(again.uid, 'b')).toBeUndefined()
      const [slices = []] = await readPages((page) => scans().listSlices(scan.uid, page), 10)
      expect(slices.map(({ id, status }) => [id, status])).toEqual([
        ['c', 'pending'],
        ['b', 'pending'],
      ])
      await scans().changeSlice(scan.uid, 'b', { status: 'skipped' })
      const skipped = await scans().listSlices(scan.uid, { limit: 5, status: 'skipped' })
      expect(skipped.items.map(({ id }) => id)).toEqual(['b'])
      await cut('r3', [])
      expect((await scans().listSlices(scan.uid, { limit: 5 })).items).toEqual([])
    })

    it('keeps the newest threat model, and an edited one before a generated one that began earlier', async () => {
      const generated = { content: '# one', source: 'generated', generatedByScan: 'r1' }
      const first = await scans().saveThreatModel(scan, generated)
      expect(first).toMatchObject({ version: 1, source: 'generated', generatedByScan: 'r1' })
      const began = bench().now().toISOString()
      bench().advance(1000)
      const edited = await scans().saveThreatModel(scan, { content: hardTexts.join(), source: 'edited' })
      expect(edited).toMatchObject({ version: 2, createdAt: first.createdAt })
      const late = { content: '# two', source: 'generated', generatedByScan: 'r1' }
      expect(await scans().saveThreatModel(scan, late, began)).toEqual(edited)
      bench().advance(1000)
      const after = bench().now().toISOString()
      expect(await scans().saveThreatModel(scan, late, after)).toMatchObject({ version: 3, content: '# two' })
      expect(await scans().saveThreatModel(scan, late)).toMatchObject({ version: 3 })
      await bench().reopen()
      expect(await scans().getThreatModel(scan.uid)).toMatchObject({ version: 3, content: '# two' })
      expect(await scans().getThreatModel(again.uid)).toBeUndefined()
    })

    it('removes all records of a scan and nothing of others', async () => {
      for (const one of [scan, again]) {
        await scans().startRun(one, { id: 'a', mode: 'manual' })
        await scans().cutSlices(one, 'a', [{ ...makeSlice('s'), status: 'pending' }])
        await scans().saveThreatModel(one, { content: '#', source: 'edited' })
      }
      expect(await scans().scanUids(undefined, 10)).toEqual([scan.uid, again.uid])
      await scans().removeScan(scan.uid)
      expect(await scans().scanUids(undefined, 10)).toEqual([again.uid])
      expect(await scans().getRun(scan.uid, 'a')).toBeUndefined()
      expect(await scans().getSlice(again.uid, 's')).toBeDefined()
      expect(await scans().getThreatModel(again.uid)).toBeDefined()
    })
  })
}
