import { describe, expect, it } from 'vitest'
import { readResult } from './result.ts'

describe('reading a result', () => {
  it('tells text, JSON and the result of work in a repository apart', () => {
    expect(readResult('[ok] all fine')).toEqual({ sort: 'text', text: '[ok] all fine' })
    expect(readResult(' {"score": 3}')).toEqual({ sort: 'json', value: { score: 3 } })
    const work = { version: 1, summary: 'done', diff: 'd', verdict: 'approved', data: { a: 1 } }
    expect(readResult(JSON.stringify(work))).toEqual({
      sort: 'work',
      summary: 'done',
      work: { diff: 'd', verdict: 'approved', data: { a: 1 } },
    })
  })

  it('leaves out fields that are not what they should be', () => {
    const text = JSON.stringify({ version: 1, summary: 's', diff: 7, diffTruncated: 'yes', branch: ['x'], data: [] })
    expect(readResult(text)).toEqual({ sort: 'work', summary: 's', work: {} })
  })
})
