import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { findMarked, isMarkerOf, listMarkers, readMarkedHead, writeMarker } from './review-marker.ts'

const head = 'a'.repeat(40)
const reviewed = { repository: { owner: 'Acme', name: 'Site' }, number: 7, head }
const keys = ['first key', 'earlier key']
const nobody = async () => undefined

const find = (body: string, more: { author?: string; keys?: string[]; trusted?: string } = {}) =>
  findMarked([{ body, author: more.author ?? 'someone' }], {
    reviewed,
    keys: more.keys ?? keys,
    trustedAuthor: async () => more.trusted,
  })

describe('the marker of a review', () => {
  it('has the repository, the pull request, the head and a signature over them [CODEHOST-032]', () => {
    const sig = createHmac('sha256', 'first key').update(`acme/site\n7\n${head}`).digest('hex')
    const expected = `<!-- svc:pr-review repo=acme/site pr=7 head_sha=${head} sig=${sig} -->`
    expect(writeMarker(reviewed, keys)).toBe(expected)
    expect(writeMarker({ ...reviewed, head: head.toUpperCase() }, keys)).toBe(expected)
  })

  it('is found anywhere in a review, whoever posted it', async () => {
    expect(await find(`Fine.\n\n${writeMarker(reviewed, keys)}\n`)).toBeDefined()
    expect(await find('Fine.')).toBeUndefined()
  })

  it.each([
    ['repository', { ...reviewed, repository: { owner: 'acme', name: 'other' } }],
    ['pull request', { ...reviewed, number: 8 }],
    ['head', { ...reviewed, head: 'b'.repeat(40) }],
  ])('of another %s does not count [CODEHOST-033]', async (_what, other) => {
    expect(await find(writeMarker(other, keys))).toBeUndefined()
  })

  it('counts under an earlier key, and no longer once that is taken away [CODEHOST-036]', async () => {
    const old = writeMarker(reviewed, ['earlier key'])
    expect(await find(old)).toBeDefined()
    expect(await find(old, { keys: ['first key'] })).toBeUndefined()
    expect(writeMarker(reviewed, keys)).not.toBe(old)
  })

  it.each([
    `<!-- svc:pr-review repo=acme/site pr=7 head_sha=${head} sig=${'0'.repeat(64)} -->`,
    `<!-- svc:pr-review repo=acme/site pr=7 head_sha=${head} sig= -->`,
    `<!-- svc:pr-review repo=acme/site pr=7 head_sha=${head} -->`,
    writeMarker(reviewed, keys).replace(' sig=', '  sig='),
    writeMarker(reviewed, keys).slice(0, -5).concat('0 -->'),
  ])('that was made up counts from nobody, the trusted author included: %#', async (forged) => {
    expect(await find(forged, { author: 'bot', trusted: 'bot' })).toBeUndefined()
  })

  it('of the old form counts from the trusted author alone [CODEHOST-037]', async () => {
    const legacy = `<!-- svc:pr-review head_sha=${head} -->`
    expect(await find(legacy, { author: 'bot', trusted: 'Bot' })).toBeDefined()
    expect(await find(legacy, { author: 'stranger', trusted: 'bot' })).toBeUndefined()
    expect(await find(legacy, { author: 'bot' })).toBeUndefined()
    expect(await find(legacy.replace(head, 'b'.repeat(40)), { author: 'bot', trusted: 'bot' })).toBeUndefined()
  })

  it('asks who is trusted only where it matters', async () => {
    const never = async () => {
      throw new Error('was asked')
    }
    const signed = { body: writeMarker(reviewed, keys), author: 'a' }
    expect(await findMarked([signed], { reviewed, keys, trustedAuthor: never })).toBe(signed)
    expect(await findMarked([], { reviewed, keys, trustedAuthor: nobody })).toBeUndefined()
  })

  it('tells which head it is about, if it is one of ours', () => {
    const other = writeMarker({ ...reviewed, head: 'b'.repeat(40) }, keys)
    expect(listMarkers(`x ${other} y <!-- note --> ${writeMarker(reviewed, keys)}`)).toHaveLength(2)
    expect(readMarkedHead(other, reviewed, keys)).toBe('b'.repeat(40))
    expect(readMarkedHead(other, reviewed, ['another key'])).toBeUndefined()
    expect(isMarkerOf(other, reviewed, keys)).toBe(false)
  })

  it('is not looked for in what is far longer than one', () => {
    expect(listMarkers(`<!-- svc:pr-review ${'x'.repeat(1000)} -->`)).toEqual([])
    expect(listMarkers('<!-- svc:pr-review '.repeat(3000))).toEqual([])
  })
})
