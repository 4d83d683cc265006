import { describe, expect, it } from 'vitest'
import { isPassedOver, keepNewPaths } from './carried-folders.ts'

describe('what builds leave', () => {
  it('is told by the name of its folder, and of some names by what lies beside it', () => {
    expect(isPassedOver('node_modules', () => false)).toBe(true)
    expect(isPassedOver('src', () => true)).toBe(false)
    expect(isPassedOver('target', (name) => name === 'Cargo.toml')).toBe(true)
    expect(isPassedOver('target', () => false)).toBe(false)
  })

  it('is left out of what is new, but where the repository tracks some of it', () => {
    const tracked = ['src/main.rs', 'Cargo.toml', 'web/node_modules/patched/index.js']
    const added = [
      'src/new.rs',
      'target/debug/main',
      'src/target/linux.rs',
      'web/node_modules/patched/more.js',
      'api/.venv/bin/python',
      'api/__pycache__/a.pyc',
      'node_modules',
    ]
    expect(keepNewPaths(added, tracked)).toEqual({
      paths: ['src/new.rs', 'src/target/linux.rs', 'web/node_modules/patched/more.js', 'node_modules'],
      leftOut: ['api/.venv', 'api/__pycache__', 'target'],
    })
  })

  it('may be nothing', () => {
    expect(keepNewPaths([], ['a'])).toEqual({ paths: [], leftOut: [] })
    expect(keepNewPaths(['b'], ['a'])).toEqual({ paths: ['b'], leftOut: [] })
  })
})
