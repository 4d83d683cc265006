import { describe, expect, it } from 'vitest'
import { isKind, type KindInfo, kindNames, kinds } from './index.ts'

describe('kinds', () => {
  it('are seven, each under its own name', () => {
    expect(kindNames).toEqual(['Task', 'Agent', 'Provider', 'Tool', 'Skill', 'RepositoryScan', 'RepositoryMonitor'])
    for (const name of kindNames) expect(kinds[name].kind).toBe(name)
  })

  it('have no plural and no short name twice', () => {
    const words = kindNames.flatMap((name) => [kinds[name].plural, kinds[name].singular, ...kinds[name].shortNames])
    expect(new Set(words).size).toBe(words.length)
  })

  it('end their columns with the age', () => {
    for (const name of kindNames) expect((kinds[name] as KindInfo).columns.at(-1)?.name).toBe('Age')
  })

  it('know their own names, and no inherited ones', () => {
    expect(isKind('Task')).toBe(true)
    expect(isKind('task')).toBe(false)
    expect(isKind('toString')).toBe(false)
  })
})
