import { describe, expect, it } from 'vitest'
import { findHelm, findStale } from '../../scripts/chart.ts'

describe('the chart', () => {
  it('has the definitions that the contract prints', () => {
    expect(findStale(undefined)).toEqual([])
  })

  it.skipIf(findHelm() === undefined)('is what deploy/svc.yaml was printed from', () => {
    expect(findStale(findHelm())).toEqual([])
  })
})
