import { describe, expect, it } from 'vitest'
import { joinPatches, readDiffLines } from './diff-lines.ts'

describe('the lines of a diff', () => {
  const patch = '@@ -1 +1,2 @@\n one\n+two'
  const names = ['plain.ts', 'end ', 'a b', 'tab\there', 'line\nbreak', 'quote"d', '+++ b/other']

  it('are those of the file that is named, whatever its name holds', () => {
    const files = readDiffLines(joinPatches(names.map((path) => ({ path, patch }))))
    expect([...files.keys()]).toEqual(names)
    for (const { added } of files.values()) expect([...added]).toEqual([2])
  })

  it('take no line of a file for the name of another', () => {
    const forged = '--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+++ b/forged\n'
    expect([...readDiffLines(forged).keys()]).toEqual(['x'])
  })
})
