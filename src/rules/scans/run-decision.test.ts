import { describe, expect, it } from 'vitest'
import { RepositoryScanSpec } from '../../contract/kinds/scans/repository-scan.ts'
import { maxDelayMs } from '../../lib/backoff.ts'
import { decideRun, runBackoff } from './run-decision.ts'

const minute = 60_000
const createdAt = new Date('2030-01-01T00:00:00Z')
const specOf = (more: object) =>
  RepositoryScanSpec.parse({ repoURL: 'https://github.com/a/b', analysisAgentRef: { name: 'a' }, ...more })
const later = (ms: number) => new Date(createdAt.getTime() + ms)

describe('a run that starts by itself', () => {
  const at = createdAt.toISOString()
  const done = { lastScanID: 'scan_1', lastScanAt: at, lastSuccessfulScanAt: at, lastProcessedCommit: 'c1' }
  const decide = (spec: object, status: object | undefined, now: Date) =>
    decideRun(specOf(spec), { createdAt, status }, now)

  it('is the first one at once, unless the scan is suspended', () => {
    expect(decide({}, undefined, createdAt)).toEqual({ action: 'start', mode: 'initial' })
    expect(decide({ suspend: true }, undefined, createdAt)).toEqual({ action: 'suspended' })
    expect(decide({}, done, later(365 * 24 * 60 * minute))).toEqual({ action: 'wait' })
  })

  it('goes by the schedule in its time zone [SCAN-046]', () => {
    const spec = { schedule: '0 3 * * *', timeZone: 'America/New_York' }
    const due = new Date('2030-01-01T08:00:00.000Z')
    expect(decide(spec, done, new Date('2030-01-01T03:30:00Z'))).toEqual({ action: 'wait', until: due })
    expect(decide(spec, done, due)).toEqual({ action: 'start', mode: 'incremental' })
    const utc = { schedule: '0 3 * * *' }
    expect(decide(utc, done, new Date('2030-01-01T03:00:00Z'))).toEqual({ action: 'start', mode: 'incremental' })
  })

  it('reviews everything while nothing was processed', () => {
    const { lastProcessedCommit: _none, ...never } = done
    expect(decide({ schedule: '@hourly' }, never, later(60 * minute))).toEqual({ action: 'start', mode: 'initial' })
  })

  it('reviews everything again when the last good run is too long ago', () => {
    const spec = { schedule: '0 0 * * *', historyDays: 7 }
    const day = 24 * 60 * minute
    expect(decide(spec, done, later(7 * day))).toEqual({ action: 'start', mode: 'incremental' })
    expect(decide(spec, { ...done, lastScanAt: later(6 * day).toISOString() }, later(8 * day))).toEqual({
      action: 'start',
      mode: 'initial',
    })
  })

  it('comes later and later after failures, and no later than a day [SCAN-045]', () => {
    const spec = { schedule: '*/5 * * * *' }
    expect(decide(spec, done, later(5 * minute))).toMatchObject({ action: 'start' })
    const failed = { ...done, failedRuns: 3 }
    expect(decide(spec, failed, later(minute))).toEqual({ action: 'wait', until: later(40 * minute) })
    expect(decide(spec, failed, later(5 * minute))).toEqual({ action: 'wait', until: later(40 * minute) })
    expect(decide(spec, failed, later(40 * minute))).toMatchObject({ action: 'start' })
    expect([0, 1, 2, 3, 50].map((count) => maxDelayMs(runBackoff, count) / minute)).toEqual([0, 10, 20, 40, 24 * 60])
  })
})
