import { describe, expect, it } from 'vitest'
import { judgeWorkerEnd, readReportLine, type WorkerEnd } from './worker-end.ts'

const end: WorkerEnd = {
  exit: { code: 0, signal: null },
  wasReady: true,
  outcome: undefined,
  errorTail: '',
  wasOutOfMemory: false,
}
const judge = (changed: Partial<WorkerEnd>) => judgeWorkerEnd({ ...end, ...changed }, 512 * 1024 * 1024)
const exit = (code: number | null, signal: string | null = null) => ({ exit: { code, signal } })

describe('the end of a worker', () => {
  it('is a success with exit code 0, unless the worker reported a failure', () => {
    expect(judge({})).toEqual({ ok: true })
    expect(judge({ outcome: { ok: true } })).toEqual({ ok: true })
    expect(judge({ outcome: { ok: false, message: 'no' } })).toMatchObject({
      ok: false,
      reason: 'ExitCode',
      message: 'no',
    })
  })

  it('is a failure with the message of the worker when it exits with code 1', () => {
    const outcome = { ok: false, reason: 'MissingApiKey', message: 'set a key' }
    expect(judge({ ...exit(1), outcome })).toEqual({
      ok: false,
      reason: 'ExitCode',
      cause: 'MissingApiKey',
      message: 'set a key',
      exitCode: 1,
    })
    expect(judge({ ...exit(1), outcome: { ok: false, reason: 'Stopped' } })).toMatchObject({ message: 'Stopped' })
  })

  it.each(['', 'no word', 'x', 'missingKey', 'Key\n', `A${'a'.repeat(64)}`])('has no cause called %j', (reason) => {
    expect(judge({ ...exit(1), outcome: { ok: false, reason, message: 'no' } })).not.toHaveProperty('cause')
  })

  it('is the outcome that the worker reported, when the service killed it after that', () => {
    const killed = { ...exit(null, 'SIGKILL'), endedHere: true }
    expect(judge({ ...killed, outcome: { ok: true } })).toEqual({ ok: true })
    expect(judge({ ...killed, outcome: { ok: false, message: 'no key' } })).toMatchObject({
      ok: false,
      message: 'no key',
    })
  })

  it('is a failure when the worker reports success but exits with another code', () => {
    expect(judge({ ...exit(3), outcome: { ok: true } })).toMatchObject({ ok: false, reason: 'ExitCode', exitCode: 3 })
  })

  it('is a crash that quotes the last lines of stderr', () => {
    const crash = judge({ ...exit(70), errorTail: 'first\nTypeError: x is not a function' })
    expect(crash).toMatchObject({
      reason: 'ExitCode',
      exitCode: 70,
      message: expect.stringContaining('x is not a function'),
    })
  })

  it('names the signal that killed the worker', () => {
    expect(judge(exit(null, 'SIGSEGV'))).toMatchObject({
      reason: 'Signal',
      message: expect.stringContaining('SIGSEGV'),
    })
  })

  it('is OutOfMemory when the kernel or the heap reported that memory ran out', () => {
    const memory = judge({ ...exit(null, 'SIGKILL'), wasOutOfMemory: true })
    expect(memory).toMatchObject({ reason: 'OutOfMemory', message: expect.stringContaining('512 MiB') })
  })

  it('is OutOfMemory when the kernel killed the program that the worker ran, and only then', () => {
    const outcome = { ok: false, reason: 'AgentKilled', message: 'killed' }
    const ended = { ...exit(null, 'SIGKILL'), endedHere: true, outcome }
    expect(judge({ ...ended, wasOutOfMemory: true })).toMatchObject({
      reason: 'OutOfMemory',
      message: expect.stringContaining('512 MiB'),
    })
    expect(judge(ended)).toMatchObject({ cause: 'AgentKilled', message: 'killed' })
    const other = { ...outcome, reason: 'AgentFailed' }
    expect(judge({ ...ended, outcome: other, wasOutOfMemory: true })).toMatchObject({ cause: 'AgentFailed' })
  })

  it('is a failed start, with the line that says why, when the worker was never ready', () => {
    const errorTail = 'node:internal/x\n  throw err\n\nError: Cannot find module "x"\n    at y\n\nNode.js v24'
    expect(judge({ ...exit(1), wasReady: false, errorTail })).toEqual({
      ok: false,
      reason: 'StartFailed',
      message: 'The worker could not be started: Error: Cannot find module "x"',
    })
    const refused = judge({ ...exit(1), wasReady: false, errorTail: "bwrap: Can't mount proc" })
    expect(refused).toMatchObject({ reason: 'StartFailed', message: expect.stringContaining("Can't mount proc") })
    const missing = { exit: { code: null, signal: null, startError: 'spawn /x ENOENT' }, wasReady: false }
    expect(judge(missing)).toMatchObject({ reason: 'StartFailed', message: expect.stringContaining('ENOENT') })
  })
})

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
