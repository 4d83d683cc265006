import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createManualClock, type ManualClock, waitFor } from '../../../test/fixtures/time.ts'
import { systemIds } from '../../lib/system-clock.ts'
import type { WorkerDeps } from '../deps.ts'
import type { AttemptOutcome } from '../outcome.ts'
import { type EndedAttempt, RunnerAttempts } from './attempts.ts'
import { StepRecord } from './steps.ts'

/** What a run is given, and what the test ends it with. */
type Run = { text: string; deps: WorkerDeps; signal: AbortSignal; end: (outcome: AttemptOutcome) => void }

let root: string
let clock: ManualClock
let runs: Run[]
let ends: EndedAttempt[]
let left: string[]
let attempts: RunnerAttempts
let steps: StepRecord

function run(text: string, deps: WorkerDeps, signal: AbortSignal): Promise<AttemptOutcome> {
  const { promise, resolve } = Promise.withResolvers<AttemptOutcome>()
  runs.push({ text, deps, signal, end: resolve })
  return promise
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-runner-'))
  clock = createManualClock()
  runs = []
  ends = []
  left = []
  steps = new StepRecord(join(root, '..', `${root.split('/').at(-1)}-step`))
  const deps = { clock, ids: systemIds } as unknown as WorkerDeps
  const onLeftFolder = (message: string) => void left.push(message)
  attempts = new RunnerAttempts({ deps, root, run, steps, onEnd: (end) => void ends.push(end), onLeftFolder })
})
afterEach(() => rm(root, { recursive: true, force: true }))

const keyOf = (taskUid: string, attempt = 1) => ({ taskUid, attempt })
const assign = (taskUid: string, more: object = {}) =>
  ({ type: 'assign', key: keyOf(taskUid), assignment: { of: taskUid }, ...more }) as const
const stop = (taskUid: string, graceMs: number) =>
  ({ type: 'stop', key: keyOf(taskUid), reason: 'cancelled', graceMs }) as const

async function begin(...orders: Parameters<RunnerAttempts['begin']>[0][]): Promise<Run[]> {
  const expected = runs.length + orders.length
  for (const order of orders) attempts.begin(order)
  await waitFor(() => runs.length === expected)
  return runs.slice(-orders.length)
}

async function beginOne(order = assign('a')): Promise<Run> {
  const [begun] = await begin(order)
  if (begun === undefined) throw new Error('nothing runs')
  return begun
}

describe('the attempts of a runner', () => {
  it('run at once, each with its assignment, a folder by need that nobody else may read, and what it holds', async () => {
    await begin(assign('a'), assign('b'))
    expect(runs.map(({ text }) => JSON.parse(text)).toSorted((x, y) => (x.of < y.of ? -1 : 1))).toEqual([
      { of: 'a' },
      { of: 'b' },
    ])
    const folders = runs.map(({ deps }) => deps.workspaceRoot)
    expect(new Set(folders).size).toBe(2)
    expect(await readdir(root)).toEqual([])
    for (const { deps } of runs) await deps.openWorkspace?.()
    for (const folder of folders) expect((await stat(folder)).mode & 0o777).toBe(0o700)
    for (const { deps } of runs) deps.noteHeld?.(100)
    expect(attempts.list()).toEqual([
      { ...keyOf('a'), bytes: '{"of":"a"}'.length + 100 },
      { ...keyOf('b'), bytes: '{"of":"b"}'.length + 100 },
    ])
  })

  it('have no sandbox and no programs of their own: the service runs code', async () => {
    const { deps } = await beginOne()
    expect([deps.sandbox, deps.programs]).toEqual([undefined, undefined])
  })

  it('end one by one, and leave nothing behind', async () => {
    const [a, b] = await begin(assign('a', { folder: 'folder1' }), assign('b'))
    const ofA = [a, b].find((each) => each?.text.includes('"a"'))
    expect(ofA?.deps.workspaceRoot).toBe(join(root, 'folder1'))
    await b?.deps.openWorkspace?.()
    await a?.deps.openWorkspace?.()
    await writeFile(join(root, 'folder1', 'file'), 'x')
    ofA?.end({ ok: true })
    await waitFor(() => ends.length === 1)
    expect(ends).toEqual([{ key: keyOf('a'), outcome: { ok: true } }])
    expect([attempts.size, existsSync(join(root, 'folder1')), (await readdir(root)).length]).toEqual([1, false, 1])
  })

  it('are not begun twice', async () => {
    await beginOne()
    attempts.begin(assign('a'))
    await begin(assign('b'))
    for (const { end } of runs) end({ ok: true })
    await attempts.settle()
    expect([runs.length, ends.length]).toEqual([2, 2])
  })

  it('are told of only where the run has not handed in its end itself', async () => {
    const [a, b] = await begin(assign('a'), assign('b'))
    a?.deps.noteEnd?.()
    for (const each of [a, b]) each?.end({ ok: true })
    await attempts.settle()
    expect(ends.map(({ key }) => key)).toEqual([keyOf(a?.text.includes('"a"') ? 'b' : 'a')])
  })

  it('fail alone where a run throws', async () => {
    const broken = new RunnerAttempts({
      deps: { clock, ids: systemIds } as unknown as WorkerDeps,
      root,
      run: () => Promise.reject(new Error('broken')),
      steps,
      onEnd: (end) => void ends.push(end),
      onLeftFolder: (message) => void left.push(message),
    })
    broken.begin(assign('b'))
    await broken.settle()
    expect(ends[0]?.outcome).toEqual({ ok: false, reason: 'Internal', message: 'The runner broke: broken' })
    expect(left).toEqual([])
  })
})

describe('an attempt that is told to stop', () => {
  it('reports its end when it comes in time, and disturbs no other', async () => {
    const [a, b] = await begin(assign('a'), assign('b'))
    const [stopped, other] = a?.text.includes('"a"') ? [a, b] : [b, a]
    attempts.stop(stop('a', 10_000))
    expect([stopped?.signal.aborted, other?.signal.aborted]).toEqual([true, false])
    expect(stopped?.signal.reason).toEqual(new Error('cancelled'))
    stopped?.end({ ok: false, reason: 'Stopped', message: 'm' })
    await waitFor(() => ends.length === 1)
    await clock.advance(10_000)
    expect([ends.length, attempts.size, attempts.overdue]).toEqual([1, 1, 0])
  })

  it('is forgotten after its time; what it still does is counted until it ends, and not reported', async () => {
    const begun = await beginOne()
    attempts.stop(stop('a', 10_000))
    await clock.advance(9_999)
    expect([attempts.size, attempts.overdue]).toEqual([1, 0])
    await clock.advance(1)
    expect([attempts.size, attempts.overdue]).toEqual([0, 1])
    begun.end({ ok: true })
    await attempts.settle()
    expect([ends, attempts.overdue, await readdir(root)]).toEqual([[], 0, []])
  })

  it('may be assigned once more meanwhile, and the end of the first run is not that of the second', async () => {
    const first = await beginOne()
    attempts.drop([keyOf('a'), keyOf('unknown')])
    expect([first.signal.aborted, attempts.size, attempts.overdue]).toEqual([true, 0, 1])
    const second = await beginOne()
    first.end({ ok: true })
    await waitFor(() => attempts.overdue === 0)
    expect([ends.length, attempts.size]).toEqual([0, 1])
    second.end({ ok: true })
    await attempts.settle()
    expect(ends).toEqual([{ key: keyOf('a'), outcome: { ok: true } }])
  })

  it('is passed over when it does not run', () => {
    attempts.stop(stop('nobody', 0))
    expect(clock.sleeping()).toBe(0)
  })
})

it('all attempts of a runner are closed when nothing of them is left', async () => {
  const begun = await begin(assign('a'), assign('b'))
  for (const { signal, end } of begun)
    signal.addEventListener('abort', () => end({ ok: false, reason: 'Stopped', message: signal.reason.message }))
  await attempts.close('the service is gone')
  expect(ends.map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 2 }, () => ({ ok: false, reason: 'Stopped', message: 'the service is gone' })),
  )
  expect(await readdir(root)).toEqual([])
})
