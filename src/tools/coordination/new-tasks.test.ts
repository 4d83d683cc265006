import { describe, expect, it } from 'vitest'
import { needsRepository } from './new-tasks.ts'

describe('a command that needs a repository', () => {
  it.each([
    [['npm', 'test']],
    [['make']],
    [['sh', '-c', 'go test ./...']],
    [['/bin/bash', '-lc', 'cd src && CI=1 pytest -q']],
    [['sh', '-c', 'true; git status']],
  ])('%j', (words) => {
    expect(needsRepository(words)).toBe(true)
  })

  it.each([
    [['echo', 'make tea']],
    [['sh', '-c', 'echo "run npm test first" > package.json']],
    [['cat', 'go.mod']],
    [['sh', '-c', 'git clone https://github.com/a/b && cd b && make']],
    [['makeinfo', '--version']],
    [['yarnspin']],
  ])('is none: %j', (words) => {
    expect(needsRepository(words)).toBe(false)
  })
})
