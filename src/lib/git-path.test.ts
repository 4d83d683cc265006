import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { quoteGitPath, readGitPath } from './git-path.ts'

const names = [
  'plain.ts',
  'end ',
  ' start',
  'a b.ts',
  'tab\there',
  'line\nbreak',
  'quote"d',
  'back\\slash',
  'ü.ts',
  'bell\u0007',
  'b',
  '"x"',
]
const folder = mkdtempSync(join(tmpdir(), 'svc-git-path-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What git itself writes after `+++ `. */
function readHeads(quotePath: boolean): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', `core.quotePath=${quotePath}`, ...args]).toString()
  git('init', '-q')
  for (const name of names) writeFileSync(join(folder, name), `${name.length}\n`)
  git('add', '-A')
  return git('diff', '--cached', '--src-prefix=a/', '--dst-prefix=b/')
    .split('\n')
    .flatMap((line) => (line.startsWith('+++ ') ? [line.slice(4)] : []))
}

describe('paths in heads of diffs', () => {
  it.each([true, false])('are read as git writes them, with core.quotePath %s', (quotePath) => {
    expect(readHeads(quotePath).map(readGitPath).toSorted()).toEqual(names.toSorted())
  })

  it('are written as git does', () => {
    expect(names.map((name) => quoteGitPath(`b/${name}`)).toSorted()).toEqual(readHeads(false).toSorted())
  })

  it('are none where a side is not there', () => {
    expect(readGitPath('/dev/null')).toBeUndefined()
  })
})
