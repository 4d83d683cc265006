// What a task leaves behind, over HTTP: logs, timeline, result, artifacts, plan.
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AttemptKey } from '../../src/ports/tasks/workloads.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let base: string
beforeAll(async () => {
  service = await startService({ http: { heartbeatMs: 50 } })
  base = await service.listen()
})
afterAll(() => service.stop())

async function makeRunning(name: string): Promise<AttemptKey> {
  await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
  return (await service.runTask(name)).identity
}

/** Opens a stream over a real socket; `read` gives its text until `done` says it is enough, or the end. */
async function openStream(path: string, headers: Record<string, string> = {}) {
  const gone = new AbortController()
  const response = await fetch(`${base}${path}`, {
    headers: { authorization: `Bearer ${ownerToken}`, ...headers },
    signal: gone.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    response,
    close: () => gone.abort(),
    async readUntil(done: (text: string) => boolean): Promise<string> {
      while (!done(text)) {
        const step = await reader?.read()
        if (step === undefined || step.done) break
        text += step.value
      }
      return text
    },
  }
}

const toEnd = () => false
const framesOf = (text: string) => text.split('\n\n').filter((frame) => frame.startsWith('id:'))

describe('logs', () => {
  it('are 404 while the task is pending', async () => {
    await service.call('POST /api/v1/tasks', { payload: aiTask('waiting') })
    const answer = await service.call('GET /api/v1/tasks/waiting/logs')
    expect([answer.statusCode, answer.json().error.message]).toEqual([404, 'task is pending, no logs available yet'])
  })

  it('are returned whole or by their tail, during and after the run, and are not the result [TASK-050] [TASK-051] [TASK-054]', async () => {
    const key = await makeRunning('spoken')
    await service.ports.records.logs.append(key, ['one', 'two "quoted"', 'thr\u00e9e'])
    const logsFor = async (query = '') => (await service.call(`GET /api/v1/tasks/spoken/logs${query}`)).json().logs
    expect(await logsFor()).toBe('one\ntwo "quoted"\nthr\u00e9e\n')
    expect(await logsFor('?tailLines=1')).toBe('thr\u00e9e\n')
    await service.ports.records.results.put(key, Readable.from(['the result']), 'text/plain')
    await service.setStatus('Task', 'spoken', { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    expect(await logsFor()).toBe('one\ntwo "quoted"\nthr\u00e9e\n')
    expect((await service.call('GET /api/v1/tasks/spoken/result')).json().result).toBe('the result')
    expect(await logsFor('?tailLines=0')).toBe('')
    await service.ports.records.logs.append({ ...key, attempt: 2 }, ['again', 'and again'])
    expect(await logsFor('?attempt=1')).toBe('one\ntwo "quoted"\nthr\u00e9e\n')
    expect(await logsFor('?attempt=2&tailLines=1')).toBe('and again\n')
    expect(await logsFor('?attempt=3')).toBe('')
    const followed = await openStream('/api/v1/tasks/spoken/logs?follow=true&attempt=1')
    expect(framesOf(await followed.readUntil(toEnd)).map((frame) => frame.split('data: ')[1])).toEqual([
      'one',
      'two "quoted"',
      'thr\u00e9e',
    ])
    for (const bad of ['-1', '1.5', 'x']) {
      expect((await service.call(`GET /api/v1/tasks/spoken/logs?tailLines=${bad}`)).statusCode).toBe(400)
    }
    expect((await service.call('GET /api/v1/tasks/spoken/logs?follow=yes')).statusCode).toBe(400)
  })

  it('are chosen by attempt, stream, time and level, and shown with times or as JSON, at once or as they come', async () => {
    const key = await makeRunning('marked')
    const at = (seconds: number) => Date.parse('2026-01-31T14:00:00Z') + seconds * 1000
    await service.ports.records.logs.append(key, [
      { text: 'output', time: at(0), stream: 'stdout' },
      { text: 'complaint', time: at(1), stream: 'stderr' },
      { text: '[look {}]', time: at(2), stream: 'stderr', level: 'debug' },
      { text: '[a word]', time: at(3), stream: 'stderr', level: 'info' },
    ])
    await service.ports.records.logs.append({ ...key, attempt: 2 }, [
      { text: '[failed]', time: at(4), stream: 'stderr', level: 'error' },
    ])
    await service.setStatus('Task', 'marked', { phase: 'Failed', attempts: 2 })
    const path = '/api/v1/tasks/marked/logs'
    const cases: [string, string[]][] = [
      ['', ['output', 'complaint', '[a word]', '[failed]']],
      ['level=debug', ['output', 'complaint', '[look {}]', '[a word]', '[failed]']],
      ['level=error', ['output', 'complaint', '[failed]']],
      ['stream=stderr&attempt=1', ['complaint', '[a word]']],
      ['stream=stdout', ['output']],
      ['since=2026-01-31T14:00:03Z', ['[a word]', '[failed]']],
      ['tailLines=2&attempt=1', ['complaint', '[a word]']],
      ['tailLines=1&timestamps=true', ['2026-01-31T14:00:04.000Z [failed]']],
      [
        'tailLines=1&format=json&timestamps=true',
        ['{"time":"2026-01-31T14:00:04.000Z","attempt":2,"stream":"stderr","level":"error","text":"[failed]"}'],
      ],
    ]
    for (const [query, lines] of cases) {
      const { logs } = (await service.call(`GET ${path}?${query}`)).json()
      expect([query, logs]).toEqual([query, lines.map((line) => `${line}\n`).join('')])
      const followed = await (await openStream(`${path}?follow=true&${query}`)).readUntil(toEnd)
      expect([query, framesOf(followed).map((frame) => frame.split('data: ')[1])]).toEqual([query, lines])
    }
    for (const bad of ['level=loud', 'stream=both', 'since=yesterday', 'format=yaml']) {
      expect([bad, (await service.call(`GET ${path}?${bad}`)).statusCode]).toEqual([bad, 400])
    }
  })

  it('include no part of a line where only stderr or whole lines are wanted', async () => {
    const key = await makeRunning('picky')
    await service.ports.records.logs.append(key, [{ text: 'complaint', time: 0, stream: 'stderr' }], 'half of the out')
    const path = '/api/v1/tasks/picky/logs?follow=true'
    const streams = await Promise.all([`${path}&stream=stderr`, `${path}&format=json`].map((each) => openStream(each)))
    for (const stream of streams) await stream.readUntil((text) => text.includes('complaint'))
    await service.ports.records.logs.append(key, ['half of the output'], '')
    await service.setStatus('Task', 'picky', { phase: 'Succeeded', attempts: 1 })
    const texts = await Promise.all(streams.map((stream) => stream.readUntil(toEnd)))
    expect(texts.map((text) => text.includes('event: part'))).toEqual([false, false])
    expect(texts.map((text) => text.includes('half of the output'))).toEqual([false, true])
  })

  it('are empty, not missing, when a finished task wrote none', async () => {
    await makeRunning('silent')
    await service.setStatus('Task', 'silent', { phase: 'Failed', attempts: 1 })
    expect((await service.call('GET /api/v1/tasks/silent/logs')).json()).toEqual({ logs: '' })
  })

  it('are followed as SSE with ids, heartbeats and an end event [TASK-025] [TASK-052] [TASK-053]', async () => {
    const key = await makeRunning('followed')
    await service.ports.records.logs.append(key, ['one', 'two'])
    const stream = await openStream('/api/v1/tasks/followed/logs?follow=true')
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream')
    await stream.readUntil((text) => text.includes('data: two'))
    await stream.readUntil((text) => text.includes(': heartbeat'))
    await service.ports.records.logs.append(key, ['three'])
    await stream.readUntil((text) => text.includes('data: three'))
    await service.setStatus('Task', 'followed', { phase: 'Succeeded', attempts: 1 })
    const text = await stream.readUntil(toEnd)
    expect(framesOf(text)).toEqual(['id: 1\ndata: one', 'id: 2\ndata: two', 'id: 3\ndata: three'])
    expect(text).toMatch(/event: end\ndata: \{\}\n\n$/)
  })

  it('include the line that is being written in parts, from its beginning for each follower', async () => {
    const key = await makeRunning('growing')
    const { logs } = service.ports.records
    await logs.append(key, ['one'], 'tw')
    const path = '/api/v1/tasks/growing/logs?follow=true'
    const stream = await openStream(path)
    await stream.readUntil((text) => text.includes('"tw"'))
    await logs.append(key, [], 'two\r and')
    await stream.readUntil((text) => text.includes('"offset":2'))
    const late = await openStream(path, { 'last-event-id': '1' })
    await late.readUntil((text) => text.includes('"offset":0'))
    expect((await service.call('GET /api/v1/tasks/growing/logs')).json()).toEqual({ logs: 'one\n' })
    await logs.append(key, ['said by another', 'two\r and all'], 'thr')
    for (const follower of [stream, late]) await follower.readUntil((text) => text.includes('thr'))
    await logs.finishLine(key)
    await service.setStatus('Task', 'growing', { phase: 'Succeeded', attempts: 1 })
    const part = (offset: number, text: string) => `event: part\ndata: ${JSON.stringify({ offset, text })}`
    const frames = (text: string) => text.split('\n\n').filter((frame) => /^(id|event: part)/.test(frame))
    const rest = [
      'id: 2\ndata: said by another',
      'id: 3\ndata: two\ndata:  and all',
      part(0, 'thr'),
      'id: 4\ndata: thr',
    ]
    const [first, second] = [await stream.readUntil(toEnd), await late.readUntil(toEnd)]
    expect(frames(first)).toEqual(['id: 1\ndata: one', part(0, 'tw'), part(2, 'o\r and'), ...rest])
    expect(frames(second)).toEqual([part(0, 'two\r and'), ...rest])
  })

  it('resume after Last-Event-ID, and can begin with their tail [TASK-052]', async () => {
    const key = await makeRunning('resumed')
    await service.ports.records.logs.append(key, ['one', 'two', 'three'])
    await service.setStatus('Task', 'resumed', { phase: 'Cancelled', attempts: 1 })
    const path = '/api/v1/tasks/resumed/logs?follow=true'
    const resumed = await (await openStream(path, { 'last-event-id': '2' })).readUntil(toEnd)
    expect(framesOf(resumed)).toEqual(['id: 3\ndata: three'])
    const tail = await (await openStream(`${path}&tailLines=2`)).readUntil(toEnd)
    expect(framesOf(tail)).toEqual(['id: 2\ndata: two', 'id: 3\ndata: three'])
    const bad = await service.call('GET /api/v1/tasks/resumed/logs?follow=true', { headers: { 'last-event-id': 'x' } })
    expect(bad.statusCode).toBe(400)
  })

  it('can be followed without anything that was written before', async () => {
    const key = await makeRunning('attended')
    const { logs } = service.ports.records
    await logs.append(key, ['one', 'two'])
    const stream = await openStream('/api/v1/tasks/attended/logs?follow=true&tailLines=0')
    await stream.readUntil((text) => text.includes(': heartbeat'))
    await logs.append(key, ['three'])
    await stream.readUntil((text) => text.includes('three'))
    await logs.append(key, ['four'])
    await service.setStatus('Task', 'attended', { phase: 'Succeeded', attempts: 1 })
    expect(framesOf(await stream.readUntil(toEnd))).toEqual(['id: 3\ndata: three', 'id: 4\ndata: four'])
  })

  it('end for a follower whose task is removed', async () => {
    await makeRunning('removed')
    const stream = await openStream('/api/v1/tasks/removed/logs?follow=true')
    await stream.readUntil((text) => text.includes(': open'))
    const { finalizers: _, ...metadata } = (await service.call('GET /api/v1/tasks/removed')).json().metadata
    const task = (await service.call('GET /api/v1/tasks/removed')).json()
    await service.ports.resources.update('Task', { ...task, metadata })
    await service.call('DELETE /api/v1/tasks/removed')
    expect(await stream.readUntil(toEnd)).toContain('event: end')
  })

  it('end at once with a task that ends without output, and are read only when the task changes', async () => {
    await makeRunning('quiet')
    const reads = vi.spyOn(service.ports.resources, 'get')
    const readsOf = () => reads.mock.calls.filter(([, { name }]) => name === 'quiet').length
    const streams = [
      await openStream('/api/v1/tasks/quiet/logs?follow=true'),
      await openStream('/api/v1/tasks/quiet/events?follow=true'),
    ]
    const silences = (text: string) => text.split(': heartbeat').length - 1
    for (const stream of streams) await stream.readUntil((text) => silences(text) >= 2)
    const before = readsOf()
    for (const stream of streams) await stream.readUntil((text) => silences(text) >= 10)
    expect(readsOf()).toBe(before)
    await service.setStatus('Task', 'quiet', { phase: 'Failed', attempts: 1 })
    for (const stream of streams) expect(await stream.readUntil(toEnd)).toContain('event: end')
    reads.mockRestore()
  })

  it('leave no stream behind when the client goes away', async () => {
    await makeRunning('abandoned')
    const open = async () => Number(/connections_current (\d+)/.exec((await service.metrics.expose()).text)?.[1])
    const before = await open()
    const stream = await openStream('/api/v1/tasks/abandoned/logs?follow=true')
    await stream.readUntil((text) => text.includes(': open'))
    expect(await open()).toBe(before + 1)
    stream.close()
    await expect.poll(open).toBe(before)
  })
})

describe('the timeline', () => {
  const append = (key: AttemptKey, taskName: string, message: string) =>
    service.ports.records.events.append({
      ...key,
      namespace: 'default',
      taskName,
      type: 'PhaseChanged',
      phase: 'Running',
      message,
    })

  it('lists events newest first with phase and time [TASK-047]', async () => {
    const key = await makeRunning('history')
    await append(key, 'history', 'first')
    await append(key, 'history', 'second')
    const { items } = (await service.call('GET /api/v1/tasks/history/events')).json()
    expect(items).toMatchObject([
      { id: 2, message: 'second', phase: 'Running', type: 'PhaseChanged' },
      { id: 1, message: 'first' },
    ])
    expect(items[0].createdAt).toMatch(/T\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('is followed as SSE, oldest first, to the end of the task [TASK-048]', async () => {
    const key = await makeRunning('story')
    await append(key, 'story', 'first')
    const stream = await openStream('/api/v1/tasks/story/events?follow=true')
    await stream.readUntil((text) => text.includes('first'))
    await append(key, 'story', 'second')
    await stream.readUntil((text) => text.includes('second'))
    await service.setStatus('Task', 'story', { phase: 'Succeeded', attempts: 1 })
    const text = await stream.readUntil(toEnd)
    expect(framesOf(text).map((frame) => frame.split('\n')[0])).toEqual(['id: 1', 'id: 2'])
    expect(text).toMatch(/event: end\ndata: \{\}\n\n$/)
    const rest = await openStream('/api/v1/tasks/story/events?follow=true', { 'last-event-id': '1' })
    expect(framesOf(await rest.readUntil(toEnd))).toHaveLength(1)
  })
})

describe('the result', () => {
  it('is 404 before there is one, then text in JSON, or bytes when asked for [TASK-026]', async () => {
    const key = await makeRunning('answered')
    const path = 'GET /api/v1/tasks/answered/result'
    const none = await service.call(path)
    expect([none.statusCode, none.json().error.message]).toEqual([404, 'task has no result'])
    const text = `"quoted"\n\u0000 and \u{1F600} `.repeat(10_000)
    await service.ports.records.results.put(key, Readable.from([text]), 'text/plain')
    expect((await service.call(path)).statusCode).toBe(404)
    await service.setStatus('Task', 'answered', { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    const answer = await service.call(path)
    expect(answer.json()).toEqual({ result: text })
    const bytes = await service.call(path, { headers: { accept: 'application/octet-stream' } })
    expect([bytes.headers['content-type'], bytes.rawPayload.equals(Buffer.from(text))]).toEqual([
      'application/octet-stream',
      true,
    ])
    const fresh = await service.call(path, { headers: { 'if-none-match': String(answer.headers.etag) } })
    expect(fresh.statusCode).toBe(304)
  })
})

describe('artifacts', () => {
  it('are listed and downloaded with their type, and cannot break out of a header [TASK-027] [TASK-028]', async () => {
    const key = await makeRunning('filed')
    const put = (filename: string, contentType: string, body: string) =>
      service.ports.records.artifacts.put(key, { filename, contentType, body: Readable.from([body]) })
    expect((await service.call('GET /api/v1/tasks/filed/artifacts')).json().items).toEqual([])
    await put('report.html', 'text/html', '<b>hi</b>')
    await put('a"b\u00fc.txt', 'text/plain', 'x')
    const { items } = (await service.call('GET /api/v1/tasks/filed/artifacts')).json()
    expect(items).toMatchObject([
      { filename: 'a"b\u00fc.txt', size: 1 },
      { filename: 'report.html', contentType: 'text/html', size: 9 },
    ])
    const page = await service.call('GET /api/v1/tasks/filed/artifacts/report.html')
    expect(page.body).toBe('<b>hi</b>')
    expect(page.headers).toMatchObject({
      'content-type': 'text/html',
      'content-length': '9',
      'content-disposition': `attachment; filename="report.html"; filename*=UTF-8''report.html`,
      'x-content-type-options': 'nosniff',
    })
    expect(page.headers['content-security-policy']).toContain('sandbox')
    const odd = await service.call(`GET /api/v1/tasks/filed/artifacts/${encodeURIComponent('a"b\u00fc.txt')}`)
    expect(odd.headers['content-disposition']).toBe(`attachment; filename="a_b_.txt"; filename*=UTF-8''a%22b%C3%BC.txt`)
    expect((await service.call('GET /api/v1/tasks/filed/artifacts/none.txt')).statusCode).toBe(404)
  })
})

describe('the plan', () => {
  const save = (taskUid: string, taskName: string, iteration: number) =>
    service.ports.records.plans?.save({
      taskUid,
      taskName,
      iteration,
      namespace: 'default',
      summary: 'half way',
      progressPct: 50,
      goalComplete: false,
      planDocument: '# plan',
    })

  it('is 404 without one, and the record in the words of the specification with one [PLAN-002] [PLAN-003] [PLAN-004] [PLAN-005] [PLAN-006] [PLAN-007] [PLAN-008] [PLAN-009] [PLAN-010]', async () => {
    const key = await makeRunning('planned')
    const none = await service.call('GET /api/v1/tasks/planned/plan')
    expect([none.statusCode, none.json().error.message]).toEqual([404, 'no plan found for this task'])
    await save(key.taskUid, 'planned', 3)
    await service.setStatus('Task', 'planned', { phase: 'Succeeded', attempts: 1 })
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect((await service.call('GET /api/v1/tasks/planned/plan')).json()).toEqual({
      TaskName: 'planned',
      Namespace: 'default',
      Iteration: 3,
      Summary: 'half way',
      ProgressPct: 50,
      GoalComplete: false,
      PlanDocument: '# plan',
      CreatedAt: time,
      UpdatedAt: time,
    })
  })

  it('appears in the task once it works in iterations', async () => {
    const key = await makeRunning('iterating')
    await save(key.taskUid, 'iterating', 2)
    expect((await service.call('GET /api/v1/tasks/iterating')).json().plan).toBeUndefined()
    await service.setStatus('Task', 'iterating', { phase: 'Running', attempts: 1, iteration: 2 })
    const answer = await service.call('GET /api/v1/tasks/iterating')
    expect(answer.json().plan).toMatchObject({
      summary: 'half way',
      progressPct: 50,
      goalComplete: false,
      iteration: 2,
    })
    const { etag } = answer.headers
    const removed = await service.call('DELETE /api/v1/tasks/iterating', { headers: { 'if-match': String(etag) } })
    expect(removed.statusCode).toBe(204)
  })

  it('has a history, newest first and in pages', async () => {
    const key = await makeRunning('historic')
    const path = 'GET /api/v1/tasks/historic/plan/history'
    expect((await service.call(path)).json()).toEqual({ items: [], metadata: {} })
    for (const iteration of [0, 1, 2]) await save(key.taskUid, 'historic', iteration)
    const first = (await service.call(`${path}?limit=2`)).json()
    expect(first.items[0]).toEqual({
      Number: 3,
      Iteration: 2,
      Summary: 'half way',
      ProgressPct: 50,
      GoalComplete: false,
      PlanDocument: '# plan',
      SavedAt: expect.any(String),
    })
    const next = (await service.call(`${path}?limit=2&continue=${first.metadata.continue}`)).json()
    expect([...first.items, ...next.items].map((item: { Number: number }) => item.Number)).toEqual([3, 2, 1])
    expect(next.metadata).toEqual({})
    expect((await service.call(`${path}?continue=x`)).statusCode).toBe(400)
    expect((await service.call('GET /api/v1/tasks/nobody/plan/history')).statusCode).toBe(404)
  })

  it('is 501 without a plan store [PLAN-011] [PLAN-015] [HTTP-013]', async () => {
    const bare = await startService({ withoutPlans: true })
    await bare.call('POST /api/v1/tasks', { payload: aiTask('planless') })
    const answer = await bare.call('GET /api/v1/tasks/planless/plan')
    expect([answer.statusCode, answer.json().error.reason]).toEqual([501, 'NotConfigured'])
    expect((await bare.call('GET /api/v1/tasks/planless/plan/history')).statusCode).toBe(501)
    expect((await bare.call('GET /api/v1/tasks/planless')).statusCode).toBe(200)
    await bare.stop()
  })
})

describe('messages below a task', () => {
  const path = 'GET /api/v1/tasks/talkative/messages'

  it('are listed newest first and in pages, without what is of no use to people', async () => {
    const { taskUid } = await makeRunning('talkative')
    expect((await service.call(path)).json()).toEqual({ items: [], metadata: {} })
    const parent = { uid: taskUid, name: 'talkative' }
    const one = { uid: 'uid-of-one', name: 'one' }
    for (const content of ['first', 'second', 'third']) {
      await service.ports.records.messages.send({ namespace: 'default', from: one, to: '*', parent, content })
    }
    const first = (await service.call(`${path}?limit=2`)).json()
    expect(first.items[0]).toEqual({
      id: expect.any(Number),
      fromTask: 'one',
      toTask: '*',
      content: 'third',
      createdAt: expect.any(String),
    })
    const next = (await service.call(`${path}?limit=2&continue=${first.metadata.continue}`)).json()
    expect([...first.items, ...next.items].map(({ content }) => content)).toEqual(['third', 'second', 'first'])
    expect(next.metadata).toEqual({})
    expect((await service.call(`${path}?continue=${first.metadata.continue.slice(0, 5)}`)).statusCode).toBe(400)
    expect((await service.call('GET /api/v1/tasks/nobody/messages')).statusCode).toBe(404)
  })
})

describe('a task made again under its name', () => {
  it('has none of the records of the earlier one [TASK-044]', async () => {
    const key = await makeRunning('reborn')
    await service.ports.records.logs.append(key, ['old line'])
    await service.ports.records.artifacts.put(key, {
      filename: 'f',
      contentType: 'text/plain',
      body: Readable.from(['x']),
    })
    await service.ports.records.results.put(key, Readable.from(['old result']), 'text/plain')
    await service.ports.records.checkpoints.save(key, '{}')
    await service.ports.records.plans?.save({
      taskUid: key.taskUid,
      taskName: 'reborn',
      namespace: 'default',
      iteration: 1,
      summary: 'old',
      progressPct: 50,
      goalComplete: false,
      planDocument: '# old',
    })
    const { finalizers: _, ...metadata } = (await service.call('GET /api/v1/tasks/reborn')).json().metadata
    const task = (await service.call('GET /api/v1/tasks/reborn')).json()
    await service.ports.resources.update('Task', { ...task, metadata })
    await service.call('DELETE /api/v1/tasks/reborn')
    const { taskUid } = await makeRunning('reborn')
    expect(taskUid).not.toBe(key.taskUid)
    expect(await service.ports.records.checkpoints.load(taskUid)).toBeUndefined()
    expect((await service.call('GET /api/v1/tasks/reborn/plan')).statusCode).toBe(404)
    await service.setStatus('Task', 'reborn', { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    expect((await service.call('GET /api/v1/tasks/reborn/result')).body).not.toContain('old result')
    expect((await service.call('GET /api/v1/tasks/reborn/logs')).json()).toEqual({ logs: '' })
    expect((await service.call('GET /api/v1/tasks/reborn/artifacts')).json().items).toEqual([])
    expect((await service.call('GET /api/v1/tasks/reborn/events')).json().items).toEqual([])
  })
})
