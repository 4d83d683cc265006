// Files that a repository keeps by pointers: fetched on request, from a server that tells where they are.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CheckoutBed, makeCheckoutBed } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'

let bed: CheckoutBed
let repository: string
const large = randomBytes(300_000)
const oid = createHash('sha256').update(large).digest('hex')
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${large.length}\n`

type Seen = { url: string; authorization: string | undefined; body: string }
let seen: Seen[]
/** What the server sends for the object, and where it says that it is. */
let sent: Buffer
let place: () => string

async function answer(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const { url = '', headers } = request
  if (!/info\/lfs|\/storage\//.test(url)) return false
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  seen.push({ url, authorization: headers.authorization, body: Buffer.concat(parts).toString() })
  if (url.includes('/storage/')) {
    response.end(sent)
    return true
  }
  const objects = [{ oid, size: large.length, actions: { download: { href: place(), header: { 'x-key': 'one' } } } }]
  response.setHeader('content-type', 'application/vnd.git-lfs+json')
  response.end(JSON.stringify({ transfer: 'basic', objects }))
  return true
}

beforeAll(async () => {
  bed = await makeCheckoutBed()
  repository = bed.repository('large', { 'model.bin': pointer, 'a.txt': 'x\n' })
})
beforeEach(() => {
  seen = []
  sent = large
  place = () => `${bed.server.origin}/storage/${oid}`
  bed.server.intercept = answer
})
afterAll(() => bed.remove())

describe('a repository with large files elsewhere', () => {
  it('has their pointers, and asks for nothing, unless it is told to', async () => {
    const { folder } = await bed.prepare('large')
    expect(readFileSync(join(folder, 'model.bin'), 'utf8')).toBe(pointer)
    expect(seen).toEqual([])
  })

  it('has the files on request, which are no change', async () => {
    const checkout = await bed.prepare('large', { lfs: true, pushBranch: 'work' })
    expect(readFileSync(join(checkout.folder, 'model.bin')).equals(large)).toBe(true)
    expect(seen.map(({ url }) => url)).toEqual(['/large.git/info/lfs/objects/batch', `/storage/${oid}`])
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      operation: 'download',
      objects: [{ oid, size: large.length }],
    })
    expect(await checkout.diff()).toMatchObject({ files: [] })
    writeFileSync(join(checkout.folder, 'a.txt'), 'y\n')
    await checkout.commit('work')
    await checkout.push()
    expect(git(repository, ['show', 'work:model.bin'])).toBe(pointer.trim())
    expect(git(repository, ['diff', '--name-only', 'main', 'work'])).toBe('a.txt')
  })

  it('shows a large file that was changed', async () => {
    const checkout = await bed.prepare('large', { lfs: true })
    writeFileSync(join(checkout.folder, 'model.bin'), randomBytes(large.length))
    expect((await checkout.diff()).files).toMatchObject([{ path: 'model.bin', change: 'changed' }])
  })

  it('sends the login to the server of the repository alone', async () => {
    place = () => `${bed.server.origin.replace('127.0.0.1', 'localhost')}/storage/${oid}`
    await bed.prepare('large', { lfs: true })
    expect(seen.map(({ authorization }) => authorization !== undefined)).toEqual([true, false])
  })

  it.each([
    ['something else', () => randomBytes(large.length)],
    ['more than it said', () => Buffer.concat([large, large])],
    ['less', () => large.subarray(1)],
  ])('is refused when its server sends %s', async (_what, lie) => {
    sent = lie()
    expect(await bed.failure('large', { lfs: true })).toMatchObject({
      fault: 'Unreachable',
      message: expect.stringContaining('what it sent is not'),
    })
  })

  it('is refused when its server does not say where a file is', async () => {
    place = () => ''
    const { fault, message } = await bed.failure('large', { lfs: true })
    expect([fault, message]).toEqual(['Unreachable', expect.stringContaining('has no object')])
  })

  it('goes to no address that nobody may reach, and fetches no more than its limit', async () => {
    place = () => 'http://169.254.169.254/latest/meta-data'
    expect(await bed.failure('large', { lfs: true })).toMatchObject({ fault: 'AddressRefused' })
    expect(await bed.failure('large', { lfs: true, limits: { bytes: 1000 } })).toMatchObject({ fault: 'TooLarge' })
  })

  it('says what to do when its server has no large files', async () => {
    bed.server.intercept = ({ url = '' }, response) => {
      if (!url.includes('lfs')) return false
      response.statusCode = 404
      response.end()
      return true
    }
    const failure = await bed.failure('large', { lfs: true })
    expect(failure.message).toContain('leave workspace.lfs out')
  })
})
