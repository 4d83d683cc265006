// What every store of imports of findings does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'
import { readPages, scan } from './scans.contract.ts'

export function describeScanImports(name: string, open: OpenBench): void {
  describe(`imports of findings on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const imports = () => bench().stores().scanImports
    const content = JSON.stringify(hardTexts)
    const draftOf = (id: string, more: object = {}) => ({
      id,
      tools: ['semgrep'],
      resultCount: 2,
      skippedResults: 1,
      createdBy: hardTexts.join(),
      content,
      ...more,
    })
    const start = (id: string, more: object = {}) => {
      bench().advance(1000)
      return imports().startImport(scan, draftOf(id, more))
    }

    it('keep what was given until they have ended, over a restart', async () => {
      const made = await start('a', { commitSHA: 'c1' })
      expect(made).toMatchObject({ id: 'a', phase: 'pending', repositoryScan: 'shop', acceptedFindings: 0 })
      await bench().reopen()
      expect(await imports().pendingImport(scan.uid)).toEqual({ record: made, content })
      await imports().endImport(scan.uid, 'a', { phase: 'succeeded', acceptedFindings: 2, newFindings: 1 })
      expect(await imports().pendingImport(scan.uid)).toBeUndefined()
      await imports().endImport(scan.uid, 'a', { phase: 'failed', errorMessage: 'too late' })
      const ended = await imports().getImport(scan.uid, 'a')
      expect(ended).toMatchObject({ phase: 'succeeded', newFindings: 1, commitSHA: 'c1', createdBy: hardTexts.join() })
      expect(ended?.completedAt).toBeDefined()
      expect(ended).not.toHaveProperty('errorMessage')
    })

    it('are under way one at a time; the same again is the one that there is', async () => {
      const answers = await Promise.allSettled([start('a'), start('b', { content: 'other' })])
      expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { reason: 'Conflict' } })
      const pending = await imports().pendingImport(scan.uid)
      expect(await start('c', { content: pending?.content })).toEqual(pending?.record)
      await expect(start('d', { content: pending?.content, commitSHA: 'c2' })).rejects.toMatchObject({
        reason: 'Conflict',
      })
      const other = { ...scan, uid: 'uid-2' }
      expect(await imports().startImport(other, draftOf('a'))).toMatchObject({ id: 'a' })
      expect(await imports().getImport(other.uid, 'b')).toBeUndefined()
    })

    it('are announced, listed newest first, and go with their scan', async () => {
      const heard: unknown[] = []
      const end = bench()
        .stores()
        .scans.onRequest((one) => void heard.push(one))
      for (const id of ['a', 'b', 'c']) {
        await start(id)
        await imports().endImport(scan.uid, id, { phase: 'failed', errorMessage: 'gone' })
      }
      end()
      expect(heard).toContainEqual({ namespace: 'default', name: 'shop' })
      const pages = await readPages((page) => imports().listImports(scan.uid, page), 2)
      expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['c', 'b'], ['a']])
      expect(await bench().stores().scans.scanUids(undefined, 10)).toEqual([scan.uid])
      await bench().stores().scans.removeScan(scan.uid)
      expect((await imports().listImports(scan.uid, { limit: 10 })).items).toEqual([])
    })
  })
}
