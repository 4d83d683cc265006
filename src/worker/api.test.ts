import { expect, it } from 'vitest'
import { failures } from '../contract/kinds/tasks/failures.ts'
import { createWorkerApi } from './api.ts'
import { explainCrash } from './outcome.ts'

/** Pauses pass at once. */
function openApi(answer: (count: number, now: number) => Response | Error) {
  let now = 0
  let count = 0
  const api = createWorkerApi({
    api: { url: 'http://service.test', token: 'of-the-task' },
    task: { namespace: 'default', name: 'job' },
    clock: {
      now: () => new Date(now),
      sleep: async (ms) => {
        now += ms
      },
    },
    signal: new AbortController().signal,
    fetch: async () => {
      count += 1
      const given = answer(count, now)
      if (given instanceof Error) throw given
      return given
    },
  })
  return { api, count: () => count, now: () => now }
}

const failed = (code: string) => Object.assign(new TypeError('fetch failed'), { cause: { code } })
const reset = () => failed('ECONNRESET')
const refused = () => failed('ECONNREFUSED')
const accepted = () => new Response(null, { status: 204 })
const minuteMs = 60_000

/** An answer whose body ends in the middle. */
function cut(): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('{"half'))
      controller.error(new TypeError('terminated'))
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

it.each([
  ['refuses connections', refused],
  ['resets connections', reset],
  ['has no database', () => Response.json({ error: { reason: 'Unavailable', message: 'no' } }, { status: 503 })],
  ['is behind a gateway that answers 502', () => new Response('Bad Gateway', { status: 502 })],
  ['is behind a gateway that answers 504', () => new Response('<html>', { status: 504 })],
])('a worker waits two minutes and more while the service %s', async (_how, answer) => {
  const { api, now } = openApi((_count, time) => (time < 2 * minuteMs ? answer() : accepted()))
  await api.submitResult('paid for')
  expect(now()).toBeGreaterThanOrEqual(2 * minuteMs)
})

it('asks again when an answer breaks off', async () => {
  const { api } = openApi((count) => (count === 1 ? cut() : Response.json([{ kind: 'ai' }])))
  expect(await api.loadCheckpoint()).toEqual([{ kind: 'ai' }])
})

it('ends after minutes, which counts as an interruption and no failure', async () => {
  const { api, now } = openApi(refused)
  const error = await api.submitResult('lost').catch((thrown: unknown) => thrown)
  expect(now()).toBeGreaterThan(5 * minuteMs)
  const outcome = explainCrash(error, new AbortController().signal)
  expect(outcome).toMatchObject({ ok: false, reason: 'ServiceUnavailable' })
  expect(failures.ServiceUnavailable.class).toBe('free')
})

it('fails at once on what the service will not take, which is no interruption', async () => {
  const body = { error: { reason: 'TooLarge', message: 'too long' } }
  const { api, count } = openApi(() => Response.json(body, { status: 413 }))
  const error = await api.submitResult('long').catch((thrown: unknown) => thrown)
  expect(count()).toBe(1)
  expect(explainCrash(error, new AbortController().signal)).toMatchObject({ ok: false, reason: 'Internal' })
})

it('makes a call that must happen once again only when it has reached nobody', async () => {
  const run = { argv: ['true'], workspaceFiles: [], limits: {} } as never
  const { signal } = new AbortController()
  const done = { exitCode: 0, signal: null, stdout: '', stderr: '', stdoutTruncated: false }
  const waiting = openApi((_count, time) =>
    time < minuteMs ? refused() : Response.json({ ...done, stderrTruncated: false, timedOut: false }),
  )
  expect(await waiting.api.runCode(run, signal)).toMatchObject({ exitCode: 0 })
  const lost = openApi(reset)
  await expect(lost.api.runCode(run, signal)).rejects.toThrow('cannot be reached')
  expect(lost.count()).toBe(1)
})
