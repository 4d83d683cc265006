import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RunnerRenewal, runnerLimits, runnerProtocol } from '../../../contract/api/tasks/runners.ts'
import { systemIds } from '../../../lib/system-clock.ts'
import type { AttemptEnd } from '../../attempts/end.ts'
import { lost, RunnerLink } from './link.ts'
import { createRunnerTable } from './table.ts'

const registration = {
  protocol: runnerProtocol,
  version: '0',
  slots: 5,
  attemptBytes: 1000,
  runs: ['ai' as const],
  runsCode: false,
}
const keyOf = (taskUid: string) => ({ taskUid, attempt: 1 })
const named = (taskUid: string, bytes = 10) => ({ ...keyOf(taskUid), bytes })

let silences: string[]
let idle: boolean[]
let link: RunnerLink
beforeEach(() => {
  vi.useFakeTimers()
  silences = []
  idle = []
  link = new RunnerLink({
    name: 'svc-1',
    credential: 'secret',
    slots: 5,
    onSilent: (why) => void silences.push(why),
    onIdle: (isIdle) => void idle.push(isIdle),
  })
})
afterEach(() => {
  link.lose(() => lost(false, 'over'))
  vi.useRealTimers()
})

function assign(taskUid: string): { end: AttemptEnd | undefined } {
  const seen: { end: AttemptEnd | undefined } = { end: undefined }
  void link.assign({ key: keyOf(taskUid), assignment: { of: taskUid }, folder: `f${taskUid}` }).then((end) => {
    seen.end = end
  })
  return seen
}

const renew = (change: Partial<RunnerRenewal> = {}) =>
  link.renew({ slots: 5, lagMs: 0, rssBytes: 1, attempts: [], ...change })
const settle = () => vi.advanceTimersByTimeAsync(0)

async function readLines(count: number, stream = link.openWork()): Promise<unknown[]> {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk
  })
  await vi.waitFor(() => expect(text.split('\n').length).toBeGreaterThan(count))
  return text
    .split('\n')
    .slice(0, count)
    .map((line) => JSON.parse(line))
}

describe('a runner as the service knows it', () => {
  it('reads the orders that came before it dialled, and those after', async () => {
    assign('a')
    link.stop({ key: keyOf('a'), reason: 'cancelled', graceMs: 5 })
    link.stop({ key: keyOf('unknown'), reason: 'x', graceMs: 5 })
    expect(await readLines(2)).toMatchObject([
      { type: 'assign', key: keyOf('a'), assignment: { of: 'a' }, folder: 'fa' },
      { type: 'stop', key: keyOf('a') },
    ])
  })

  it('has one reader: a second ends the first', async () => {
    const first = link.openWork().resume()
    const ended = new Promise((resolve) => first.once('end', resolve))
    link.openWork().resume()
    await ended
  })

  it('is idle when nothing is left, and takes no more than its slots', async () => {
    expect(link.room).toBe(5)
    const seen = assign('a')
    expect([link.room, link.size, idle]).toEqual([4, 1, [false]])
    link.hear(keyOf('a'), { ok: false, reason: 'RateLimited', message: 'wait' })
    link.hear(keyOf('a'), { ok: true })
    await settle()
    expect(seen.end).toEqual({ ok: false, reason: 'ExitCode', cause: 'RateLimited', message: 'wait', exitCode: 1 })
    expect(idle).toEqual([false, true])
    renew({ slots: 0 })
    expect(link.room).toBe(0)
  })

  it('is silent when its lease has ended, later than the runner itself believes', async () => {
    link.register('runner-1', registration)
    await vi.advanceTimersByTimeAsync(runnerLimits.leaseMs)
    renew()
    await vi.advanceTimersByTimeAsync(runnerLimits.leaseMs + runnerLimits.graceMs - 1)
    expect(silences).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(silences).toHaveLength(1)
  })

  it('is as good as silent when its event loop stands still for as long as a lease', () => {
    renew({ lagMs: runnerLimits.leaseMs - 1 })
    expect(silences).toEqual([])
    renew({ lagMs: runnerLimits.leaseMs })
    expect(silences).toHaveLength(1)
  })

  it('loses an attempt that it does not name three times in a row; what a blocked one names is old', async () => {
    const seen = assign('a')
    for (let round = 0; round < 5; round += 1) renew({ lagMs: 5000 })
    renew()
    renew()
    renew({ attempts: [named('a')] })
    renew()
    renew()
    await settle()
    expect(seen.end).toBeUndefined()
    renew()
    await settle()
    expect(seen.end).toMatchObject({ reason: 'Stopped', loss: 'bystander' })
  })

  it('is told what it holds that counts no longer', () => {
    assign('a')
    expect(renew({ attempts: [named('a'), named('gone')] })).toEqual([keyOf('gone')])
  })

  it('gives up an attempt that holds more than one may: it goes on alone', async () => {
    link.register('runner-1', registration)
    const seen = assign('a')
    renew({ attempts: [named('a', 1001)] })
    await settle()
    expect(seen.end).toMatchObject({ reason: 'Stopped', loss: 'suspect' })
    expect(await readLines(2)).toMatchObject([{ type: 'assign' }, { type: 'stop', key: keyOf('a') }])
  })

  it('cannot show the code of an attempt another folder by a link', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'svc-link-')))
    try {
      link.root = root
      assign('a')
      assign('b')
      expect(link.folderOf(keyOf('a'))).toBeUndefined()
      mkdirSync(join(root, 'fa'))
      symlinkSync('/', join(root, 'fb'))
      expect([link.folderOf(keyOf('a')), link.folderOf(keyOf('b'))]).toEqual([join(root, 'fa'), undefined])
    } finally {
      rmSync(root, { recursive: true })
    }
  })
})

describe('the runners of a service', () => {
  it('are known by their credentials, and answer for themselves alone', async () => {
    const table = createRunnerTable(systemIds)
    const remove = table.add(link)
    expect([table.identify('secret'), table.identify('guess')]).toEqual([{ runner: 'svc-1' }, undefined])
    const { id } = table.register({ runner: 'svc-1' }, registration)
    expect(table.renew({ runner: 'svc-1' }, id, { slots: 5, lagMs: 0, rssBytes: 1, attempts: [] })).toMatchObject({
      drop: [],
    })
    const others = [
      () => table.readWork({ runner: 'svc-2' }, id),
      () => table.readWork({ runner: 'svc-1' }, 'runner-2'),
    ]
    for (const other of others) expect(other).toThrow(expect.objectContaining({ reason: 'NotFound' }))
    expect(() => table.register({ runner: 'svc-1' }, { ...registration, protocol: 2 })).toThrow(
      expect.objectContaining({ reason: 'Conflict' }),
    )
    const seen = assign('a')
    table.end(keyOf('a'), { ok: true })
    table.end(keyOf('nobody'), { ok: true })
    await settle()
    expect(seen.end).toEqual({ ok: true })
    remove()
    expect(table.identify('secret')).toBeUndefined()
  })

  it('hand back what they drain, which goes on elsewhere uncounted', async () => {
    const table = createRunnerTable(systemIds)
    table.add(link)
    const { id } = table.register({ runner: 'svc-1' }, registration)
    const [back, kept] = [assign('a'), assign('b')]
    table.drain({ runner: 'svc-1' }, id, [keyOf('a')])
    await settle()
    expect(back.end).toMatchObject({ loss: 'bystander' })
    expect(kept.end).toBeUndefined()
    expect(link.room).toBe(0)
  })
})
