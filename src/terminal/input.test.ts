// What commands read of the machine.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readBytes, readTexts } from './input.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-input-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a file that a command reads', () => {
  it('is its text', async () => {
    const path = join(folder, 'a.yaml')
    writeFileSync(path, 'ä ☕\n')
    expect(await readTexts(path)).toEqual([{ name: path, text: 'ä ☕\n' }])
    expect(await readTexts(folder)).toEqual([{ name: path, text: 'ä ☕\n' }])
  })

  it.each([
    ['of bytes', [0x89, 0x50, 0xff]],
    ['of another encoding', [0xff, 0xfe, 0x61, 0]],
  ])('%s is refused, not changed', async (_what, bytes) => {
    const path = join(folder, 'bytes')
    writeFileSync(path, Buffer.from(bytes))
    expect([...(await readBytes(path))]).toEqual(bytes)
    await expect(readTexts(path)).rejects.toThrow(`${path} is not text in UTF-8: save it as such, or encode it`)
  })

  it('that is not there is said in plain words', async () => {
    await expect(readTexts('/nowhere/x')).rejects.toThrow('/nowhere/x cannot be read: there is no such file or folder')
  })
})
