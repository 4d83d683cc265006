// `svc scan slices` and `svc scan coverage`: what a scan would review, without a service or a model.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { git } from '../fixtures/git/repository.ts'
import { runSvc } from './service.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-slices-'))
const env = { PATH: process.env.PATH, SVC_DATA_DIR: join(home, 'data') }
const svc = (...args: string[]) => runSvc(args, env)
afterAll(() => rmSync(home, { recursive: true, force: true }))

function makeShop(): { folder: string; first: string } {
  const folder = join(home, 'shop')
  mkdirSync(join(folder, 'app'), { recursive: true })
  mkdirSync(join(folder, 'lib'))
  git(folder, ['init', '--quiet', '--initial-branch=main'])
  writeFileSync(join(folder, 'app', 'web.py'), 'from lib import db\n\ndef show(q):\n    return db.find(q)\n')
  writeFileSync(join(folder, 'lib', 'db.py'), 'def find(q):\n    return q\n')
  writeFileSync(join(folder, 'notes.txt'), 'hello\n')
  git(folder, ['add', '.'])
  git(folder, ['commit', '--quiet', '-m', 'first'])
  const first = git(folder, ['rev-parse', 'HEAD'])
  writeFileSync(join(folder, 'lib', 'db.py'), 'def find(q):\n    return run("select " + q)\n')
  git(folder, ['commit', '--quiet', '-am', 'second'])
  writeFileSync(join(folder, 'lib', 'new.py'), 'x = 1\n')
  return { folder, first }
}

describe('svc scan slices', () => {
  const { folder, first } = makeShop()

  it('shows the slices of a commit, and of the folder as it lies', async () => {
    const { stdout, stderr, code } = await svc('scan', 'slices', folder)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ID +OWNED +CONTEXT +SURE +TITLE\nslice_\w{16} +1 +1 +medium +Python package app\n/)
    expect(stderr).toMatch(/^2 slices at \w{12}; 3 files: 2 owned, 0 tests, left out: 1 not-source\n/)
    const again = await svc('scan', 'slices', folder, '-o', 'json')
    expect((await svc('scan', 'slices', folder, '-o', 'json')).stdout).toBe(again.stdout)
    expect((await svc('scan', 'slices', folder, '--files')).stderr).toContain('3 owned')
    expect((await svc('scan', 'slices', folder, '--left-out')).stdout).toBe('not-source  notes.txt\n')
  })

  it('marks what an incremental run would review, and shows what a reviewer would see', async () => {
    const { stdout } = await svc('scan', 'slices', folder, '--since', first)
    expect(stdout).toMatch(/skip .*Python package app/)
    expect(stdout).toMatch(/yes .*Python package lib/)
    const id = /(slice_\w+) .*package lib/.exec(stdout)?.[1] ?? ''
    const shown = JSON.parse((await svc('scan', 'slices', folder, '--show', id)).stdout)
    expect(shown.includedFiles[0]).toMatchObject({
      path: 'lib/db.py',
      excerpt: expect.stringContaining('2:     return run('),
    })
  })

  it('says what to do when there is nothing to cut', async () => {
    const missing = await svc('scan', 'slices', join(home, 'nowhere'))
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('is not a folder')])
    mkdirSync(join(home, 'unborn'))
    git(join(home, 'unborn'), ['init', '--quiet'])
    const unborn = await svc('scan', 'slices', join(home, 'unborn'))
    expect([unborn.code, unborn.stderr]).toEqual([2, expect.stringContaining('--files')])
    const wrong = await svc('scan', 'slices', folder, '--since', 'abc')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('full id')])
  })
})

describe('svc scan coverage', () => {
  it('prints the share of known places that a reviewer is shown', async () => {
    const list = join(home, 'places.csv')
    writeFileSync(
      list,
      '# test name, line, real vulnerability\nweb,4,true\nlib/db.py,2,true\nlib/gone.py,1,true\nother,1,false\n',
    )
    const { stdout } = await svc('scan', 'coverage', join(home, 'shop'), list)
    expect(stdout).toBe(
      'in the files of a slice: 66.7% (2 of 3)\nshown to its reviewer: 66.7% (2 of 3)\nnot shown: lib/gone.py:1\n',
    )
    writeFileSync(list, 'a,b\n1,2\n')
    const bad = await svc('scan', 'coverage', join(home, 'shop'), list)
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('must name the columns')])
  })
})
