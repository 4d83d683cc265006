// Trees that strangers shaped are walked and removed by one routine (src/lib/tree-walk.ts, tree-removal.ts): the recursion of Node goes
// by paths, which end at 4,096 bytes, and stops at the first failure.
import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

/** Files that may use the recursion of Node, since nobody else shapes these trees. */
const exceptions: Record<string, string> = {
  'src/http/dashboard/dashboard.ts': 'reads the built dashboard that comes with the program, at the start',
  'src/launch/connect.ts': 'removes a folder with one file that it has made itself',
  'src/runtime/local/confinement/control-group.ts': 'removes a control group, whose files the kernel removes with it',
  'src/upkeep/doctor.ts':
    'removes a folder that it has made to look what can be mounted there, which nothing writes to',
}

const recursion = /\b(?:rm|rmdir|readdir|opendir|cp)(?:Sync)?\((?:[^()]|\([^()]*\))*?\brecursive: true/s

const recursing = listFiles('src', ['.ts'])
  .filter((path) => !path.endsWith('.test.ts'))
  .filter((path) => recursion.test(readSource(path)))

describe('trees that strangers shaped', () => {
  it('are neither removed nor listed by paths', () => {
    expect(recursing.filter((path) => !(path in exceptions))).toEqual([])
  })

  it('have no exception that nothing needs', () => {
    expect(Object.keys(exceptions).filter((path) => !recursing.includes(path))).toEqual([])
  })

  it('would be found', () => {
    for (const text of ['await rm(join(a, b), { recursive: true })', 'readdirSync(x, {\n  recursive: true,\n})'])
      expect(text).toMatch(recursion)
    expect('await mkdir(root, { recursive: true })').not.toMatch(recursion)
  })
})
