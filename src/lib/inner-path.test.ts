import { describe, expect, it } from 'vitest'
import { absolutePaths, innerPaths, loosePaths, outerPaths } from '../../test/fixtures/inner-paths.ts'
import { findPathFault, isInnerPath, normalizeInnerPath } from './inner-path.ts'

describe('a path inside a folder', () => {
  it.each(innerPaths)('is %j, as it stands', (path) => {
    expect(findPathFault(path)).toBeUndefined()
    expect(normalizeInnerPath(path)).toBe(path)
  })

  it.each([...outerPaths, ...absolutePaths, 'lone\ud800'])('is not %j, however it is read', (path) => {
    expect(isInnerPath(path)).toBe(false)
    expect(normalizeInnerPath(path)).toBeUndefined()
  })

  it.each(Object.entries(loosePaths))('may be written as %j by people', (path, inner) => {
    expect(isInnerPath(path)).toBe(false)
    expect(normalizeInnerPath(path)).toBe(inner)
  })

  it.each(['', '.', './', './/.'])('may be the folder itself for people: %j', (path) => {
    expect(isInnerPath(path)).toBe(false)
    expect(normalizeInnerPath(path)).toBe('')
  })

  it('says what is wrong with another one', () => {
    const faults = ['', '/a', 'C:a', 'a\\b', 'a\tb', 'a//b', 'a/../b', 'a/.'].map(findPathFault)
    expect(faults).toEqual([
      'is empty',
      'is absolute',
      'is absolute',
      'contains a backslash',
      'contains control characters',
      'has an empty part',
      'names a folder',
      'names a folder',
    ])
  })
})
