import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { absolutePaths, innerPaths, loosePaths, outerPaths } from '../../../test/fixtures/inner-paths.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ModelTool, ToolContext } from '../registry/tool.ts'
import { fileRead, fileWrite } from './file-tools.ts'
import { openWorkspaceFolder } from './workspace-file.ts'

let base: string
let root: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'file-tools-'))
  root = join(base, 'root')
  await mkdir(root)
  await writeFile(join(base, 'secret.txt'), 'outside')
})
afterEach(() => rm(base, { recursive: true, force: true }))

// The file tools use nothing of the context but the root.
const run = (tool: ModelTool, args: JsonObject): Promise<JsonObject> =>
  tool.invoke(args, { workspaceRoot: root } as ToolContext, new AbortController().signal)
const read = (path: string, rest: JsonObject = {}) => run(fileRead, { path, ...rest })
const write = (path: string, content: string, rest: JsonObject = {}) => run(fileWrite, { path, content, ...rest })

describe('file_read', () => {
  it('reads a file by its relative path, by /workspace and by the real root, from an offset [BUILT-007]', async () => {
    await writeFile(join(root, 'a.txt'), 'hello world')
    expect(await read('a.txt')).toEqual({
      success: true,
      path: '/workspace/a.txt',
      content: 'hello world',
      size: 11,
      offset: 0,
      truncated: false,
    })
    expect(await read('/workspace/a.txt', { offset: 6 })).toMatchObject({ content: 'world', truncated: false })
    expect(await read(join(root, 'a.txt'), { offset: 6, limit: 2 })).toMatchObject({
      content: 'wo',
      truncated: true,
      next_offset: 8,
    })
    expect(await read('a.txt', { offset: 100 })).toMatchObject({ content: '', truncated: false })
  })

  it('reads at most 1 MiB and refuses more instead of changing it [BUILT-008] [BUILT-029]', async () => {
    await writeFile(join(root, 'big.txt'), 'x'.repeat(1_048_577))
    const whole = await read('big.txt', { limit: 1_048_576 })
    expect(whole).toMatchObject({ truncated: true, next_offset: 1_048_576 })
    expect(whole.content).toHaveLength(1_048_576)
    const refused = await read('big.txt', { limit: 1_048_577 })
    expect(refused).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    expect(refused.error).toContain('limit')
  })

  it('never splits a character at either end', async () => {
    const text = 'aé€😀z'.repeat(3)
    await writeFile(join(root, 'u.txt'), text)
    for (let limit = 4; limit < 12; limit += 1) {
      let offset: unknown = 0
      let whole = ''
      while (offset !== undefined) {
        const part = await read('u.txt', { offset, limit })
        whole += part.content
        offset = part.next_offset
      }
      expect(whole).toBe(text)
    }
    expect(await read('u.txt', { offset: 2, limit: 10 })).toMatchObject({ offset: 3 })
  })

  it('says of a file with NUL bytes that it is not text', async () => {
    await writeFile(join(root, 'b.bin'), Buffer.from([1, 0, 2]))
    expect(await read('b.bin')).toMatchObject({ success: false, errorType: 'invalid_arguments' })
  })

  it('names what is missing [ERR-002] [ERR-003] [ERR-004] [ERR-005]', async () => {
    const result = await read('no/such/file.txt')
    expect(result).toMatchObject({ success: false, errorType: 'not_found' })
    expect(result.error).toContain('no/such/file.txt')
    expect(result.suggestion).toEqual(expect.stringMatching(/\w+ \w+/))
  })

  it('names every wrong argument', async () => {
    const result = await run(fileRead, { offset: -1, limit: 'x', other: 1 })
    expect(result.errorType).toBe('invalid_arguments')
    for (const name of ['path', 'offset', 'limit', 'other']) expect(result.error).toContain(name)
  })
})

describe('file_write', () => {
  it('writes, replaces and appends, making folders [BUILT-012] [BUILT-013] [BUILT-014]', async () => {
    expect(await write('d/e/f.txt', 'one')).toEqual({
      success: true,
      path: '/workspace/d/e/f.txt',
      size: 3,
      mode: 'write',
      created: true,
    })
    expect(await write('/workspace/d/e/f.txt', 'two\n')).toMatchObject({ created: false, size: 4 })
    expect(await write('d/e/f.txt', 'three', { mode: 'append' })).toMatchObject({ created: false, size: 9 })
    expect(await readFile(join(root, 'd/e/f.txt'), 'utf8')).toBe('two\nthree')
    expect(await write('x/y.txt', 'z', { create_dirs: false })).toMatchObject({ errorType: 'not_found' })
    expect(await write('a.txt', 'z', { mode: 'overwrite' })).toMatchObject({ errorType: 'invalid_arguments' })
    expect(await run(fileWrite, { path: 'a.txt' })).toMatchObject({ errorType: 'invalid_arguments' })
  })

  it('keeps the mode of the file it replaces and leaves no draft behind', async () => {
    await writeFile(join(root, 'run.sh'), 'old', { mode: 0o755 })
    await write('run.sh', 'new')
    expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o755)
    expect(execFileSync('ls', ['-A', root], { encoding: 'utf8' }).trim()).toBe('run.sh')
  })

  it('refuses content over 1 MiB', async () => {
    expect(await write('big.txt', 'é'.repeat(600_000))).toMatchObject({ errorType: 'invalid_arguments' })
  })
})

describe('paths that lead elsewhere [BUILT-026]', () => {
  beforeEach(async () => {
    await symlink('/etc/passwd', join(root, 'passwd'))
    await symlink('/etc', join(root, 'etc'))
    await symlink(base, join(root, 'up'))
    await symlink(join(base, 'not-yet.txt'), join(root, 'dangling'))
    await symlink('loop', join(root, 'loop'))
    await mkdir(join(root, 'sub'))
    await mkdir(join(base, 'rootX'))
    await writeFile(join(base, 'rootX', 'a.txt'), 'outside')
    await writeFile(join(root, 'plain.txt'), 'inside')
    execFileSync('mkfifo', [join(root, 'fifo')])
  })

  const tricks: [string, string][] = [
    ['../secret.txt', 'forbidden'],
    ['sub/../../secret.txt', 'forbidden'],
    ['/etc/passwd', 'forbidden'],
    ['/workspaceX/a.txt', 'forbidden'],
    ['/workspace/../etc/passwd', 'forbidden'],
    ['passwd', 'forbidden'],
    ['etc/passwd', 'forbidden'],
    ['up/secret.txt', 'forbidden'],
    ['loop', 'forbidden'],
    ['fifo', 'invalid_arguments'],
    ['sub', 'invalid_arguments'],
    ['.', 'invalid_arguments'],
    ['/workspace', 'invalid_arguments'],
    ['a\0b', 'invalid_arguments'],
    ['', 'invalid_arguments'],
    ['n'.repeat(300), 'invalid_arguments'],
    ['d/'.repeat(3000), 'invalid_arguments'],
    ['plain.txt/below', 'invalid_arguments'],
  ]

  it.each(innerPaths)('writes and reads %j', async (path) => {
    expect(await write(path, path)).toMatchObject({ success: true })
    expect(await readFile(join(root, path), 'utf8')).toBe(path)
    expect(await read(path)).toMatchObject({ success: true, content: path })
  })

  it.each(Object.entries(loosePaths))('takes %j for %j', async (path, inner) => {
    expect(await write(path, 'x')).toMatchObject({ success: true })
    expect(await readFile(join(root, inner), 'utf8')).toBe('x')
  })

  it.each([...outerPaths, ...absolutePaths])('refuses %j', async (path) => {
    expect(await write(path, 'x')).toMatchObject({ success: false })
    expect(await read(path)).toMatchObject({ success: false })
  })

  it.each(tricks)('refuses to read and to write %j', async (path, errorType) => {
    expect(await write(path, 'x')).toMatchObject({ success: false, errorType })
    expect(await read(path)).toMatchObject({ success: false })
    expect(await readFile(join(base, 'secret.txt'), 'utf8')).toBe('outside')
  })

  it('refuses the neighbour of the root whose name begins alike', async () => {
    expect(await read(join(base, 'rootX', 'a.txt'))).toMatchObject({ errorType: 'forbidden' })
  })

  it('does not write through a link to a file that is not there yet', async () => {
    for (const mode of ['write', 'append']) {
      expect(await write('dangling', 'x', { mode })).toMatchObject({ success: false, errorType: 'forbidden' })
    }
    await expect(stat(join(base, 'not-yet.txt'))).rejects.toThrow('ENOENT')
  })

  it('follows a link that stays inside', async () => {
    await symlink('plain.txt', join(root, 'alias'))
    await symlink('sub', join(root, 'folder'))
    expect(await read('alias')).toMatchObject({ content: 'inside' })
    expect(await write('folder/new.txt', 'x')).toMatchObject({ success: true, path: '/workspace/sub/new.txt' })
  })

  it('opens no folder that became a link after it was checked', async () => {
    await rename(join(root, 'sub'), join(root, 'gone'))
    await symlink(base, join(root, 'sub'))
    await expect(openWorkspaceFolder(root, ['sub'], false)).rejects.toThrow()
    await expect(openWorkspaceFolder(root, ['sub', 'new'], true)).rejects.toThrow()
  })

  it('holds while another process swaps a folder and a link to the outside without pause', async () => {
    let isOver = false
    const inside = join(root, 'sub')
    const swap = async () => {
      while (!isOver) {
        await rename(inside, join(root, 'aside'))
        await symlink(base, inside)
        await unlink(inside)
        await rename(join(root, 'aside'), inside)
      }
    }
    const swapping = swap()
    const outcomes = new Set<unknown>()
    // How often a write meets the folder in its place is up to the machine; that one does is part of the test.
    for (let round = 0; round < 300 || (!outcomes.has(true) && round < 30_000); round += 1) {
      const mode = round % 2 === 0 ? 'append' : 'write'
      outcomes.add((await write('sub/secret.txt', 'x', { mode, create_dirs: false })).success)
      expect((await read('sub/secret.txt')).content).not.toBe('outside')
    }
    isOver = true
    await swapping
    expect(outcomes.has(true)).toBe(true)
    expect(await readFile(join(base, 'secret.txt'), 'utf8')).toBe('outside')
  })
})
