import { describe, expect, it } from 'vitest'
import { readReportLine } from './worker-report.ts'

const nothing = { isReady: false, outcome: undefined }

describe('a line of a worker about itself', () => {
  it('says that it is ready, or how it ended', () => {
    const ready = readReportLine(nothing, '{"ready":true}')
    expect(ready).toEqual({ isReady: true, outcome: undefined })
    expect(readReportLine(ready, '{"ok":true}')).toEqual({ isReady: true, outcome: { ok: true } })
    const failed = readReportLine(ready, '{"ok":false,"reason":"Stopped","message":"why"}')
    expect(failed.outcome).toEqual({ ok: false, reason: 'Stopped', message: 'why' })
  })

  it.each(['', 'garbage', 'null', '[]', '3', '{"ok":"yes"}', '{"ready":"no"}', '{'])(
    'is ignored when it is %j',
    (line) => {
      const before = { isReady: true, outcome: { ok: false, message: 'first' } }
      expect(readReportLine(before, line)).toEqual(before)
      expect(readReportLine(nothing, line)).toEqual(nothing)
    },
  )

  it('is reduced to its known fields, with text of bounded length', () => {
    const long = readReportLine(
      nothing,
      JSON.stringify({ ok: false, reason: 7, message: 'x'.repeat(100_000), extra: {} }),
    )
    expect(long.outcome).toEqual({ ok: false, message: 'x'.repeat(4096) })
  })
})
