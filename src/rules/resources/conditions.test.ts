import { describe, expect, it } from 'vitest'
import { dropConditions, findCondition, setCondition } from './conditions.ts'

const early = new Date('2026-01-01T00:00:00.900Z')
const late = new Date('2026-01-01T00:05:00Z')
const ready = { type: 'Ready', status: 'True', reason: 'A', message: 'fine' } as const

describe('conditions', () => {
  it('keep their transition time until the status changes', () => {
    const first = setCondition(undefined, ready, early)
    expect(first).toEqual([{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }])
    const same = setCondition(first, { ...ready, message: 'still' }, late)
    expect(same).toEqual([{ ...ready, message: 'still', lastTransitionTime: '2026-01-01T00:00:00Z' }])
    const changed = setCondition(same, { ...ready, status: 'False' }, late)
    expect(findCondition(changed, 'Ready')?.lastTransitionTime).toBe('2026-01-01T00:05:00Z')
  })

  it('are one of each type', () => {
    const two = setCondition(setCondition(undefined, ready, early), { ...ready, type: 'Other' }, early)
    expect(setCondition(two, ready, late).map((condition) => condition.type)).toEqual(['Ready', 'Other'])
    expect(dropConditions(two, 'Ready')?.map((condition) => condition.type)).toEqual(['Other'])
  })
})
