// What becomes of planted weaknesses between a commit and stored findings: none is lost, nothing that is none is kept, and
// each stays one finding while its code moves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../src/contract/api/scans/findings.ts'
import { fileAround, type Planted, pathOf, planted } from '../fixtures/scans/planted.ts'
import { openReviewBed } from '../fixtures/scans/review-bed.ts'
import { answerReview } from '../fixtures/scans/scripted-reviewer.ts'

type Shape = { before?: number; root?: string; mended?: ReadonlySet<string> }

/** Every case in a folder of its own, with its look-alike. */
function plant({ before = 0, root = 'src', mended = new Set() }: Shape = {}): Record<string, string> {
  const place = (one: Planted, what: 'weak' | 'fine') => pathOf(one, what).replace('src', root)
  return Object.fromEntries(
    planted.flatMap((one) => [
      [place(one, 'weak'), fileAround(one, mended.has(one.id) ? one.fine : one.weak, before)],
      [place(one, 'fine'), fileAround(one, one.fine)],
    ]),
  )
}

let bed: Awaited<ReturnType<typeof openReviewBed>>
beforeAll(async () => {
  bed = await openReviewBed()
})
afterAll(() => bed.close())

const idsOf = (findings: Finding[]) => findings.map(({ id }) => id).sort()
const inState = async (state: Finding['state']) => (await bed.listFindings()).filter((one) => one.state === state)

describe('planted weaknesses', () => {
  let first: string[] = []
  let head = ''

  it('are all found, and nothing that a reviewer says about the look-alikes is kept', async () => {
    expect(planted.length).toBeGreaterThanOrEqual(40)
    expect(new Set(planted.map(({ language }) => language)).size).toBe(3)
    head = bed.commit(plant())
    const { dropped, faults, accepted } = await bed.run(answerReview)
    const findings = await bed.listFindings()
    const found = new Set(findings.map(({ filePath }) => filePath))
    expect(planted.filter((one) => !found.has(pathOf(one))).map(({ id, title }) => `${id} ${title}`)).toEqual([])
    expect(
      findings
        .filter(({ filePath = '' }) => filePath.includes('sound'))
        .map(({ title, filePath }) => `${title} ${filePath}`),
    ).toEqual([])
    expect({ accepted, dropped: dropped.length, faults }).toEqual({
      accepted: planted.length,
      dropped: planted.length,
      faults: [],
    })
    expect(new Set(dropped.map(({ layer }) => layer))).toEqual(new Set(['validation', 'filter']))
    first = idsOf(findings)
  })

  it('say where they are at the commit, with the function around and the lines as they are', async () => {
    const findings = await bed.listFindings()
    const one = findings.find(({ filePath }) => filePath === 'src/python-1/handler.py')
    expect(one).toMatchObject({ severity: 'high', line: 5, commitSHA: head })
    expect(one?.evidence[0]).toMatchObject({
      symbol: 'handle_python_1',
      quote: expect.stringContaining('cursor.execute'),
    })
  })

  it('are no new findings when the same commit is reviewed again, in other words', async () => {
    for (let again = 0; again < 3; again += 1) await bed.run(answerReview)
    expect(idsOf(await bed.listFindings())).toEqual(first)
    expect(await inState('open')).toHaveLength(planted.length)
  })

  it('stay the same findings when lines are put above them [FIND-018]', async () => {
    const before = head
    head = bed.commit(plant({ before: 17 }))
    await bed.run(answerReview, before)
    const findings = await bed.listFindings()
    expect(idsOf(findings)).toEqual(first)
    expect(findings.every(({ line = 0 }) => line >= 21)).toBe(true)
  })

  it('stay the same findings when all files get new names', async () => {
    const before = head
    head = bed.commit(plant({ before: 17, root: 'lib/moved' }))
    await bed.run(answerReview, before)
    const findings = await bed.listFindings()
    expect(idsOf(findings)).toEqual(first)
    expect(findings.every(({ filePath = '', state }) => filePath.startsWith('lib/moved/') && state === 'open')).toBe(
      true,
    )
  })

  it('are fixed when they are gone, and open again when they return [FIND-019] [FIND-020]', async () => {
    const mended = new Set(planted.filter((_, at) => at % 4 === 0).map(({ id }) => id))
    const before = head
    head = bed.commit(plant({ before: 17, root: 'lib/moved', mended }))
    const { reviewed } = await bed.run(answerReview, before)
    const owned = reviewed.map(({ ownedFiles }) => ownedFiles.map(({ path }) => path.split('/')[2] ?? ''))
    expect(owned.every((names) => names.some((name) => mended.has(name)))).toBe(true)
    expect(await inState('fixed')).toHaveLength(mended.size)
    expect(idsOf(await bed.listFindings())).toEqual(first)
    const back = bed.commit(plant({ before: 17, root: 'lib/moved' }))
    await bed.run(answerReview, head)
    head = back
    expect(await inState('open')).toHaveLength(planted.length)
    expect(idsOf(await bed.listFindings())).toEqual(first)
  })

  it('are one finding for each place that the same code is copied to', async () => {
    const [one] = planted
    if (one === undefined) throw new Error('There is no case.')
    const copy = { [pathOf(one).replace('src', 'copy')]: fileAround(one, one.weak) }
    const before = head
    head = bed.commit({ ...plant({ before: 17, root: 'lib/moved' }), ...copy })
    await bed.run(answerReview, before)
    const findings = await bed.listFindings()
    expect(findings).toHaveLength(planted.length + 1)
    expect(idsOf(findings)).toEqual(expect.arrayContaining(first))
    await bed.run(answerReview)
    expect(await bed.listFindings()).toHaveLength(planted.length + 1)
  })
})
