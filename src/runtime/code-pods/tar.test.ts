import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { absolutePaths, innerPaths, outerPaths } from '../../../test/fixtures/inner-paths.ts'
import { packFiles, unpackFiles } from './tar.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tar-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const long = `${'d'.repeat(90)}/${'n'.repeat(80)}.txt`
const samples = {
  'a.txt': Buffer.from('hello\n'),
  empty: Buffer.alloc(0),
  'in/a/folder.bin': Buffer.from([0, 255, 1, 254]),
  'block.bin': Buffer.alloc(1024, 7),
  'nämé with blanks': Buffer.from('ü'),
  [long]: Buffer.from('far away'),
}
const files = Object.entries(samples).map(([path, bytes]) => ({ path, bytes }))
const byPath = (list: { path: string; bytes: Uint8Array }[]) =>
  Object.fromEntries(list.map(({ path, bytes }) => [path, Buffer.from(bytes)]))

describe('an archive of files', () => {
  it('is unpacked by the tar of the system, byte for byte', () => {
    execFileSync('tar', ['-xmf', '-', '-C', folder], { input: packFiles(files) })
    for (const { path, bytes } of files) expect(readFileSync(join(folder, path))).toEqual(bytes)
  })

  it('is read as the system’s tar writes it, without links and folders', () => {
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), bytes)
    }
    symlinkSync('/etc/passwd', join(folder, 'link'))
    linkSync(join(folder, 'a.txt'), join(folder, 'same'))
    const archive = execFileSync('tar', ['-c', '-C', folder, '--format=ustar', '--hard-dereference', '.'])
    expect(byPath(unpackFiles(archive))).toEqual({ ...samples, same: samples['a.txt'] })
  })

  it('unpacks to the files that were packed', () => {
    expect(byPath(unpackFiles(packFiles(files)))).toEqual(samples)
    expect(unpackFiles(packFiles([]))).toEqual([])
  })

  it('keeps what lies inside by every name, and leaves out what leads elsewhere', () => {
    const pack = (paths: readonly string[]) => packFiles(paths.map((path) => ({ path, bytes: Buffer.from(path) })))
    expect(Object.keys(byPath(unpackFiles(pack(innerPaths))))).toEqual(innerPaths)
    const outside = [...outerPaths, ...absolutePaths].filter((path) => !path.includes('\0'))
    expect(unpackFiles(pack(outside))).toEqual([])
  })

  it('is refused when it is truncated; a path too long for the format is named', () => {
    expect(() => unpackFiles(packFiles(files).subarray(0, 600))).toThrow('cut off')
    const path = 'x'.repeat(101)
    expect(() => packFiles([{ path, bytes: Buffer.alloc(0) }])).toThrow(path)
  })
})
