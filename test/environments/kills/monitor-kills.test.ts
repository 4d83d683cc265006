// kill -9 of the real program while monitors are in every stage: after a restart each head has one review, and nothing is lost.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MonitorReviewRecord, MonitorRun } from '../../../src/contract/api/monitors/monitor-records.ts'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import {
  hasReviewer,
  readInput,
  reviewerHint,
  reviewerPath,
  startReviewer,
  writeVerdict,
} from '../../fixtures/codehost/reviewer.ts'
import { type CodeHostStand, openCodeHostStand } from '../../fixtures/codehost/stand.ts'
import { waitFor } from '../../fixtures/time.ts'
import { makeFolder, removeFolder, type Service, startService } from '../../scenarios/service.ts'

const canRun = hasReviewer && hasOpenssl
const folder = makeFolder()
let stand: CodeHostStand
let reviewer: Awaited<ReturnType<typeof startReviewer>>
let service: Service

/** Reviews that wait before they say their verdict, by pull request, and what lets them go on. */
const gates = new Map<number, Promise<void>>()
const atGate = new Set<number>()

async function start(): Promise<void> {
  service = await startService({ folder, flags: stand.flags, env: { ...stand.env, PATH: reviewerPath } })
}

beforeAll(async () => {
  if (!canRun) return
  stand = await openCodeHostStand({ entries: { 'src/a.ts': 'one\n' } })
  reviewer = await startReviewer()
  const finding = { file: 'src/a.ts', line: 2, priority: 'P1', confidence: 'high', title: 'It is lost', body: 'So.' }
  reviewer.use(async ({ turn, seen, prompt }) => {
    const reading = [readInput('md'), readInput('diff')][turn]
    if (reading !== undefined) return reading
    const number = Number(/Review pull request (\d+)/.exec(prompt)?.[1])
    atGate.add(number)
    await gates.get(number)
    return writeVerdict(seen, { findings: [finding] })
  })
  await start()
  await post('secrets', { name: 'login', stringData: { token: stand.codeHost.tokenOf('writer') } })
  await post('secrets', { name: 'vendor', stringData: reviewer.secret })
  const spec = { runtime: { type: 'llma-cli' }, model: { name: 'test-model' }, secretRef: { name: 'vendor' } }
  await post('agents', { name: 'reviewer', spec })
})
afterAll(async () => {
  await service?.stop()
  await reviewer?.stop()
  await stand?.close()
  removeFolder(folder)
})

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await service.call<T>('POST', `/api/v1/${path}`, body)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
  return answer.body
}

const monitors = 'monitors/repositories'

/** A monitor with a pull request of its own; `spec` says more of it. */
async function addMonitor(name: string, spec: object = { branch: 'main' }) {
  const publish = { enabled: true, mode: 'summary_with_inline_findings', inline: { enabled: true } }
  const common = { repoURL: stand.url, agents: { reviewer: { name: 'reviewer' } }, gitSecretRef: { name: 'login' } }
  await post(monitors, { name, spec: { ...common, review: { publish }, ...spec } })
  const { number, head } = await stand.openPull({ title: name, entries: { 'src/a.ts': `one\n${name}\n` } })
  return { name, number, head }
}
type Watched = Awaited<ReturnType<typeof addMonitor>>

const run = ({ name, number }: Watched) => post(`${monitors}/${name}/runs`, { targetNumber: number })

async function list<T>({ name }: Watched, noun: 'runs' | 'reviews'): Promise<T[]> {
  return (await service.call<{ items: T[] }>('GET', `/api/v1/${monitors}/${name}/${noun}`)).body.items
}

/** A call of that kind has come, and is not answered. */
function untilHeld(method: string, path: string): Promise<unknown> {
  const isHeld = ({ status, ...call }: { status: number; method: string; path: string }) =>
    status === 0 && call.method === method && call.path === path
  return waitFor(() => stand.codeHost.seen.some(isHeld), `${method} ${path} to wait for its answer`)
}

function hold(method: string, path: string, how: 'hang' | 'lost' = 'hang', after = 0): void {
  stand.codeHost.fail(new RegExp(`^${method} ${path}$`), how, 1, after)
}

const pullOf = ({ number }: Watched) => `/repos/${stand.full}/pulls/${number}`

async function isPosted({ number }: Watched): Promise<boolean> {
  return (await stand.listReviews(number)).length > 0
}

async function isConcluded({ name, number }: Watched): Promise<boolean> {
  const path = `/api/v1/${monitors}/${name}/items?number=${number}`
  const { items } = (await service.call<{ items: { lastPublishPhase?: string }[] }>('GET', path)).body
  return items[0]?.lastPublishPhase === 'succeeded'
}

/** One review of its head with its one finding, one run for each that was asked for, and a further run adds nothing. */
async function expectOnce(watched: Watched): Promise<void> {
  await waitFor(() => isConcluded(watched), `the review by ${watched.name} to be published`)
  expect(await stand.listReviews(watched.number)).toMatchObject([{ commit_id: watched.head, state: 'COMMENTED' }])
  const comments = [...stand.codeHost.additions.lineComments.keys()]
  expect(comments.filter((key) => key.startsWith(`${stand.full}#${watched.number}/`))).toHaveLength(1)
  const reviews = await list<MonitorReviewRecord>(watched, 'reviews')
  expect(reviews.map(({ headSHA, verdict }) => [headSHA, verdict])).toEqual([[watched.head, 'needs_changes']])
  expect(await list<MonitorRun>(watched, 'runs')).toMatchObject([{ phase: 'succeeded', selectedCount: 1 }])
}

async function restart(): Promise<void> {
  await service.kill()
  gates.clear()
  stand.codeHost.seen.length = 0
  await start()
}

const isRunning = (prefix: string) => async () => {
  const { items } = (await service.call<{ items: Task[] }>('GET', '/api/v1/tasks?limit=200')).body
  return items.some(({ metadata, status }) => metadata.name.startsWith(prefix) && status?.phase === 'Running')
}

describe.runIf(canRun)(`kill -9 with monitors at work${reviewerHint}`, () => {
  it('with a run in the queue, with a change that is read, with checks and a reviewer that run', async () => {
    const [queued, reading, checked, judged] = [
      await addMonitor('queued', {}),
      await addMonitor('reading'),
      await addMonitor('checked', { branch: 'main', validation: { commands: ['sleep 5; echo checked'] } }),
      await addMonitor('judged'),
    ]
    gates.set(judged.number, new Promise(() => {}))
    await run(judged)
    await waitFor(() => atGate.has(judged.number), 'the reviewer to be at work')
    hold('GET', `/repos/${stand.full}`)
    hold('GET', `${pullOf(reading)}/files`)
    for (const one of [reading, queued]) await run(one)
    await untilHeld('GET', `/repos/${stand.full}`)
    await untilHeld('GET', `${pullOf(reading)}/files`)
    expect(await list<MonitorRun>(queued, 'runs')).toMatchObject([{ phase: 'queued' }])
    // Last, because they end by themselves.
    await run(checked)
    await waitFor(isRunning('monval-checked'), 'the checks to run')
    await restart()
    for (const one of [queued, reading, checked, judged]) await expectOnce(one)
    const [review] = await list<MonitorReviewRecord>(checked, 'reviews')
    expect(review?.validation).toMatchObject({ status: 'passed', commands: [{ exitCode: 0, output: 'checked' }] })
  })

  it('between verdict and publishing, while the review is sent, and when it was posted without an answer', async () => {
    const between = await addMonitor('between')
    const sending = await addMonitor('sending')
    const lost = await addMonitor('lost')
    const all = [between, sending, lost]
    const opened = Promise.withResolvers<void>()
    for (const { number } of all) gates.set(number, opened.promise)
    for (const one of all) await run(one)
    await waitFor(() => all.every(({ number }) => atGate.has(number)), 'the reviewers to have read')
    // The verdict is held to the pull request and its diff: three calls.
    hold('GET', pullOf(between), 'hang', 3)
    hold('POST', `${pullOf(sending)}/reviews`)
    hold('POST', `${pullOf(lost)}/reviews`, 'lost')
    opened.resolve()
    await untilHeld('GET', pullOf(between))
    await untilHeld('POST', `${pullOf(sending)}/reviews`)
    await untilHeld('POST', `${pullOf(lost)}/reviews`)
    expect(await list<MonitorReviewRecord>(between, 'reviews')).toHaveLength(1)
    expect(await Promise.all(all.map(isPosted))).toEqual([false, false, true])
    await restart()
    for (const one of all) await expectOnce(one)
  })

  it('in the middle of the list of pull requests, with others that were reviewed before', async () => {
    const before = await addMonitor('before')
    await run(before)
    await waitFor(() => isPosted(before), 'the first review')
    const passing = await addMonitor('passing', { branch: 'main', targets: { pullRequests: { maxPerRun: 100 } } })
    const open = await stand.codeHost.call('acme', 'GET', `/repos/${stand.full}/pulls?per_page=100`)
    for (const { number } of open as unknown as Watched[])
      if (number !== passing.number) await stand.codeHost.closePull(stand.full, number)
    hold('GET', `/repos/${stand.full}/pulls`)
    await post(`${monitors}/passing/runs`, {})
    await untilHeld('GET', `/repos/${stand.full}/pulls`)
    await restart()
    for (const one of [before, passing]) await expectOnce(one)
  })
})
