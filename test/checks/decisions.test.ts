import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

describe('the decisions in docs/adr', () => {
  const numbers = listFiles('docs/adr', ['.md']).map((path) => Number(/(\d{4})-[^/]*$/.exec(path)?.[1]))

  it('are numbered from 1 without a gap, each number once', () => {
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_number, at) => at + 1))
  })

  it('carry their number in their title', () => {
    const titled = listFiles('docs/adr', ['.md']).map((path) => Number(/^# (\d+)\. /.exec(readSource(path))?.[1]))
    expect(titled).toEqual(numbers)
  })
})
