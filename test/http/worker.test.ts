// The worker API: tokens of attempts, records, limits.
import { request } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { planLimits } from '../../src/contract/api/tasks/task-records.ts'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import type { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import type { WorkerIdentity } from '../../src/ports/identity/identity.ts'
import type { LogLine } from '../../src/ports/tasks/outputs.ts'
import { waitFor } from '../fixtures/time.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let port: number
let token: string
let identity: WorkerIdentity
let name = ''
let count = 0

beforeAll(async () => {
  service = await startService()
  port = Number(new URL(await service.listen()).port)
})
afterAll(() => service.stop())
beforeEach(async () => {
  name = `work-${++count}`
  await service.call('POST /api/v1/tasks', {
    payload: aiTask(name, { sessionRef: { name: `talk-${count}`, create: true } }),
  })
  ;({ token, identity } = await service.runTask(name))
})

const mebibyte = 1_048_576
const step = { type: 'ToolCalled', message: 'Read notes.txt' }
type Call = { payload?: string | Buffer | object; headers?: Record<string, string>; token?: string }
const call = (line: string, more: Call = {}) => service.call(line, { token, ...more })
const bytes = { 'content-type': 'application/octet-stream' }
const resultPath = () => `/internal/v1/results/default/${name}`
const artifactPath = (file: string) => `/internal/v1/artifacts/default/${name}/${file}`

/** Sends `size` bytes over a real socket in chunks; resolves with the answer, and whether the connection was cut. */
function upload(path: string, size: number, options: { chunked: boolean }): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const length = options.chunked ? {} : { 'content-length': String(size) }
    const headers = { authorization: `Bearer ${token}`, ...bytes, ...length }
    const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (answer) => {
      let body = ''
      answer.on('data', (chunk) => {
        body += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    })
    outgoing.on('error', reject)
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let left = size
    const push = () => {
      while (left > 0) {
        const part = chunk.subarray(0, Math.min(left, chunk.length))
        left -= part.length
        if (!outgoing.write(part)) return void outgoing.once('drain', push)
      }
      outgoing.end()
    }
    push()
  })
}

describe('the token of an attempt', () => {
  const calls = (namespace: string, task: string): [string, Call][] => [
    [`POST /internal/v1/results/${namespace}/${task}`, { payload: 'x', headers: bytes }],
    [`POST /internal/v1/artifacts/${namespace}/${task}/f`, { payload: 'x', headers: bytes }],
    [`POST /internal/v1/logs/${namespace}/${task}`, { payload: 'x\n', headers: { 'content-type': 'text/plain' } }],
    [`POST /internal/v1/plans/${namespace}/${task}`, { payload: { summary: 's', plan_document: 'd' } }],
    [`GET /internal/v1/plans/${namespace}/${task}`, {}],
    [`PUT /internal/v1/checkpoints/${namespace}/${task}`, { payload: { a: 1 } }],
    [`POST /internal/v1/checkpoints/${namespace}/${task}?number=1`, { payload: { a: 1 } }],
    [`GET /internal/v1/checkpoints/${namespace}/${task}`, {}],
    [`POST /internal/v1/progress/${namespace}/${task}`, { payload: { events: [step] } }],
    [`PUT /internal/v1/program-sessions/${namespace}/${task}?model=p/m`, { payload: { id: 'x', text: 'x' } }],
    [`GET /internal/v1/program-sessions/${namespace}/${task}?model=p/m`, {}],
    [`POST /internal/v1/transcripts/${namespace}/${task}`, { payload: { messages: [{ role: 'user', content: 'x' }] } }],
    [`GET /internal/v1/messages/${namespace}/${task}?parentTask=${task}`, {}],
    [
      `POST /internal/v1/usage/${namespace}/${task}`,
      { payload: { id: 'x', provider: { namespace, name: 'p' }, model: 'm', inputTokens: 1, outputTokens: 1 } },
    ],
    [
      `POST /internal/v1/messages/${namespace}`,
      { payload: { fromTask: task, toTask: '*', parentTask: task, content: 'x' } },
    ],
  ]

  it('is refused for another task, and in another namespace [AUTH-011] [AUTH-007]', async () => {
    await service.call('POST /api/v1/tasks', { payload: aiTask(`other-${count}`) })
    for (const [line, more] of [...calls('default', `other-${count}`), ...calls('elsewhere', name)]) {
      expect([line, (await call(line, more)).statusCode]).toEqual([line, 403])
    }
  })

  it('is valid while its attempt is the running one, and no longer [TASK-045]', async () => {
    const statuses = async () => {
      const answers = []
      for (const [line, more] of calls('default', name).slice(0, 4)) answers.push((await call(line, more)).statusCode)
      return answers
    }
    expect(await statuses()).toEqual([204, 201, 204, 204])
    await service.setStatus('Task', name, { phase: 'Running', attempts: 2 })
    expect(await statuses()).toEqual([403, 403, 403, 403])
    await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1 })
    expect(await statuses()).toEqual([403, 403, 403, 403])
  })

  it('is refused for a task that was deleted and created again', async () => {
    const task = await service.ports.resources.get('Task', { namespace: 'default', name })
    if (task === undefined) throw new Error('the task is not there')
    const { finalizers: _, ...metadata } = task.metadata
    await service.ports.resources.update('Task', { ...task, metadata })
    await service.call(`DELETE /api/v1/tasks/${name}`)
    await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
    await service.runTask(name)
    expect((await call(`POST ${resultPath()}`, { payload: 'x', headers: bytes })).statusCode).toBe(403)
  })
})

describe('the worker API', () => {
  it('takes results and artifacts, shows transcripts, keeps the plan and carries messages to siblings [WORK-001]', async () => {
    const { resources, records } = service.ports
    const own = await resources.get('Task', { namespace: 'default', name })
    if (own === undefined) throw new Error('no task')
    const parent = `parent-${count}`
    const boss = await resources.create('Task', { metadata: { namespace: 'default', name: parent }, spec: own.spec })
    const [left, right] = [`left-${count}`, `right-${count}`]
    const { apiVersion, kind } = boss
    const owner = { apiVersion, kind, name: parent, uid: boss.metadata.uid, controller: true }
    for (const sibling of [left, right]) {
      const annotations = { 'svc.ai/parent-task-name': parent }
      const metadata = { namespace: 'default', name: sibling, annotations, ownerReferences: [owner] }
      const spec = { ...own.spec, sessionRef: { name: `s-${count}`, create: true, append: true, maxMessages: 50 } }
      await resources.create('Task', { metadata, spec })
    }
    const [token, others] = [(await service.runTask(left)).token, (await service.runTask(right)).token]
    const session = { namespace: 'default', name: `s-${count}` }
    await records.sessions.ensure(session, { create: true, sessionType: 'task' })
    await records.sessions.append(session, [{ role: 'user', content: 'before' }], {})
    const ask = async (line: string, given: object = {}, as = token) => {
      const answer = await service.call(line, { token: as, ...given })
      expect([line, answer.statusCode < 300]).toEqual([line, true])
      return answer
    }
    await ask(`POST /internal/v1/results/default/${left}`, { payload: 'the result', headers: bytes })
    await ask(`POST /internal/v1/artifacts/default/${left}/a.txt`, { payload: 'a file', headers: bytes })
    expect((await ask(`GET /internal/v1/sessions/default/s-${count}/transcript`)).body).toContain('before')
    const plan = { summary: 's', progress_pct: 5, goal_complete: false, plan_document: '# d' }
    await ask(`POST /internal/v1/plans/default/${left}`, { payload: plan })
    expect((await ask(`GET /internal/v1/plans/default/${left}`)).json()).toMatchObject({ ProgressPct: 5 })
    const message = { fromTask: left, toTask: right, parentTask: parent, content: 'hello' }
    await ask('POST /internal/v1/messages/default', { payload: message })
    const read = await ask(`GET /internal/v1/messages/default/${right}?parentTask=${parent}`, {}, others)
    expect(read.json()).toMatchObject([{ fromTask: left, content: 'hello' }])
    const { uid } = (await resources.get('Task', { namespace: 'default', name: left }))?.metadata ?? { uid: '' }
    expect((await records.results.get(uid))?.info.size).toBe('the result'.length)
    expect((await records.artifacts.list(uid)).map(({ filename }) => filename)).toEqual(['a.txt'])
  })
})

describe('results and artifacts', () => {
  it('are stored and found by people [WORK-003] [WORK-004]', async () => {
    const result = await call(`POST ${resultPath()}`, { payload: 'the result', headers: bytes })
    expect([result.statusCode, result.body]).toEqual([204, ''])
    const uploaded = await call(`POST ${artifactPath('notes.md')}`, {
      payload: '# n',
      headers: { 'content-type': 'text/markdown' },
    })
    expect([uploaded.statusCode, uploaded.body]).toEqual([201, ''])
    await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    expect((await service.call(`GET /api/v1/tasks/${name}/result`)).json()).toEqual({ result: 'the result' })
    const file = await service.call(`GET /api/v1/tasks/${name}/artifacts/notes.md`)
    expect([file.body, file.headers['content-type']]).toEqual(['# n', 'text/markdown'])
  })

  it('may be JSON, which is stored as it is', async () => {
    const text = '{ "version": 1,  "summary": "s" }'
    await call(`POST ${resultPath()}`, { payload: text, headers: { 'content-type': 'application/json' } })
    await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    expect((await service.call(`GET /api/v1/tasks/${name}/result`)).json()).toEqual({ result: text })
  })

  it('that are empty are 400 as a result, and kept as an artifact', async () => {
    expect((await call(`POST ${resultPath()}`, { payload: '', headers: bytes })).statusCode).toBe(400)
    expect((await call(`POST ${artifactPath('f')}`, { payload: '', headers: bytes })).statusCode).toBeLessThan(300)
  })

  it('are streamed up to 10 MiB, and get 413 beyond, whether the size is announced or not [TASK-058] [TASK-059] [TASK-061]', async () => {
    for (const path of [resultPath(), artifactPath('big.bin')]) {
      for (const chunked of [false, true]) {
        expect((await upload(path, 10 * mebibyte, { chunked })).status).toBeLessThan(300)
        const over = await upload(path, 10 * mebibyte + 1, { chunked })
        expect([path, chunked, over.status]).toEqual([path, chunked, 413])
        expect(JSON.parse(over.body).error.reason).toBe('TooLarge')
      }
    }
  })

  it('that continue long after their 413 still receive it', async () => {
    expect((await upload(resultPath(), 30 * mebibyte, { chunked: true })).status).toBe(413)
  })

  it('have 50 MiB in sum for artifacts [TASK-060]', async () => {
    for (const file of ['1', '2', '3', '4', '5']) {
      expect((await upload(artifactPath(file), 10 * mebibyte, { chunked: false })).status).toBe(201)
    }
    expect((await upload(artifactPath('6'), 1, { chunked: false })).status).toBe(413)
  })

  it('of a client that disconnects leave the earlier one unchanged', async () => {
    await call(`POST ${resultPath()}`, { payload: 'first', headers: bytes })
    const { worker } = service.usecases
    const { submitResult } = worker
    const started = Promise.withResolvers<{ storing: Promise<unknown> }>()
    worker.submitResult = (...args) => {
      const storing = submitResult(...args)
      started.resolve({ storing })
      return storing
    }
    const headers = { authorization: `Bearer ${token}`, ...bytes, 'content-length': '1000' }
    const outgoing = request({ host: '127.0.0.1', port, path: resultPath(), method: 'POST', headers })
    outgoing.on('error', () => {})
    outgoing.write('half of')
    const { storing } = await started.promise
    outgoing.destroy()
    await expect(storing).rejects.toMatchObject({ reason: 'ClientClosed' })
    worker.submitResult = submitResult
    await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1, resultRef: { available: true } })
    const answer = await service.call(`GET /api/v1/tasks/${name}/result`)
    expect(answer.json()).toEqual({ result: 'first' })
  })
})

describe('progress', () => {
  const report = (events: object[]) => call(`POST /internal/v1/progress/default/${name}`, { payload: { events } })
  const readEvents = async () =>
    (await service.call(`GET /api/v1/tasks/${name}/events?limit=500`)).json<{ items: (typeof step)[] }>().items

  it('stands in the timeline of the task, without secrets', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const edit = { type: 'FilesEdited', message: `notes.txt ${secret}` }
    expect((await report([step, edit])).statusCode).toBe(204)
    const [second, first] = await readEvents()
    expect(first).toMatchObject({ ...step, attempt: 1, taskUid: identity.taskUid })
    expect(second?.type).toBe('FilesEdited')
    expect(second?.message).not.toContain(secret)
  })

  it('is refused where it says more, or something else, than steps', async () => {
    for (const events of [
      [],
      Array.from({ length: 51 }, () => step),
      [{ ...step, message: 'x'.repeat(301) }],
      [{ ...step, type: 'PhaseChanged' }],
      [{ ...step, phase: 'Succeeded' }],
    ]) {
      expect((await report(events)).statusCode).toBe(400)
    }
  })

  it('is left out once the task has had a great many events', async () => {
    const drafts = Array.from({ length: 4990 }, () => {
      return { ...step, taskUid: identity.taskUid, attempt: 1, namespace: 'default', taskName: name }
    })
    await service.ports.records.events.appendAll(drafts, 10_000)
    for (let round = 0; round < 3; round += 1) {
      expect((await report(Array.from({ length: 50 }, () => step))).statusCode).toBe(204)
    }
    expect((await readEvents())[0]).toMatchObject({ id: 5000 })
  })
})

describe('logs', () => {
  it('are appended line by line as they come', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await call(`POST /internal/v1/logs/default/${name}`, { payload: 'one\ntwo', headers })).statusCode).toBe(
      204,
    )
    expect((await service.call(`GET /api/v1/tasks/${name}/logs`)).json()).toEqual({ logs: 'one\ntwo\n' })
  })

  it('have the marks that the worker gives them, cut or not, also with the end', async () => {
    const headers = { 'content-type': 'text/plain' }
    const long = 'x'.repeat(65_536)
    const payload = `rsO output\nrtEW [a word]\nno mark\nrsO ${long}\nruO unfini`
    const path = `POST /internal/v1/logs/default/${name}?unfinished=true&marked=true`
    expect((await call(path, { payload, headers })).statusCode).toBe(204)
    expect(await service.ports.records.logs.unfinished(identity.taskUid)).toMatchObject({ text: 'ruO unfini' })
    const log = 'rvO the end\n'
    const ended = await call(`POST /internal/v1/attempts/default/${name}/end`, {
      payload: { ok: true, log, marked: true },
    })
    expect(ended.statusCode).toBe(204)
    const lines: LogLine[] = []
    for await (const line of service.ports.records.logs.read(identity.taskUid, {})) lines.push(line)
    expect(lines).toMatchObject([
      { text: 'output', time: 1000, stream: 'stdout' },
      { text: '[a word]', time: 1001, stream: 'stderr', level: 'warn' },
      { text: 'no mark', stream: 'stdout' },
      { text: long, time: 1000 },
      { text: 'the end', time: 1003 },
    ])
  })

  it('contain no unfinished line until it is complete', async () => {
    const headers = { 'content-type': 'text/plain' }
    const send = (payload: string) =>
      call(`POST /internal/v1/logs/default/${name}?unfinished=true`, { payload, headers })
    const { logs } = service.ports.records
    const uid = identity.taskUid
    expect((await send('one\ntw')).statusCode).toBe(204)
    expect(await logs.unfinished(uid)).toEqual({ attempt: 1, text: 'tw' })
    await send('two \u00e9')
    expect(await logs.unfinished(uid)).toEqual({ attempt: 1, text: 'two \u00e9' })
    await send('two \u00e9.\n')
    expect(await logs.unfinished(uid)).toBeUndefined()
    expect((await service.call(`GET /api/v1/tasks/${name}/logs`)).json()).toEqual({ logs: 'one\ntwo \u00e9.\n' })
    await service.setStatus('Task', name, { phase: 'Running', attempts: 2 })
    expect((await send('of an attempt that is over')).statusCode).toBe(403)
    expect(await logs.unfinished(uid)).toBeUndefined()
  })
})

describe('plans', () => {
  const path = () => `/internal/v1/plans/default/${name}`

  it('are saved with the iteration of the task and read in the same shape as in public [WORK-002] [WORK-006] [WORK-007] [WORK-008] [PLAN-001]', async () => {
    expect((await call(`GET ${path()}`)).statusCode).toBe(404)
    await service.setStatus('Task', name, { phase: 'Running', attempts: 1, iteration: 4 })
    const payload = { summary: 's', progress_pct: 40, goal_complete: false, plan_document: '# d' }
    const saved = await call(`POST ${path()}`, { payload })
    expect([saved.statusCode, saved.body]).toEqual([204, ''])
    const read = (await call(`GET ${path()}`)).json()
    expect(read).toMatchObject({ TaskName: name, Iteration: 4, ProgressPct: 40, PlanDocument: '# d' })
    expect((await service.call(`GET /api/v1/tasks/${name}/plan`)).json()).toEqual(read)
  })

  it('are told in the timeline, without what must stay secret', async () => {
    const payload = { summary: `two read with api_key=sk-${'a'.repeat(40)}`, progress_pct: 70, plan_document: 'd' }
    expect((await call(`POST ${path()}`, { payload })).statusCode).toBe(204)
    const { items } = (await service.call(`GET /api/v1/tasks/${name}/events`)).json()
    const [event] = items.filter(({ type }: { type: string }) => type === 'PlanSaved')
    expect(event.message).toMatch(/^70 %: two read with /)
    expect(event.message).not.toContain('aaaa')
  })

  it('of 1 MiB are kept, and longer ones are refused by name', async () => {
    const save = (plan_document: string) => call(`POST ${path()}`, { payload: { summary: 's', plan_document } })
    expect((await save('x'.repeat(planLimits.document))).statusCode).toBe(204)
    const longer = await save('x'.repeat(planLimits.document + 1))
    expect([longer.statusCode, longer.json().error.details[0].path]).toEqual([400, 'plan_document'])
    expect(longer.body.length).toBeLessThan(1000)
    expect((await call(`GET ${path()}`)).json().PlanDocument).toHaveLength(planLimits.document)
  })

  it('with a progress outside 0 to 100 are 400 [PLAN-014]', async () => {
    for (const progress_pct of [-1, 101, 1.5, '50']) {
      const answer = await call(`POST ${path()}`, { payload: { summary: 's', plan_document: 'd', progress_pct } })
      expect(answer.statusCode).toBe(400)
    }
  })

  it('are 501 without a store', async () => {
    const bare = await startService({ withoutPlans: true })
    await bare.call('POST /api/v1/tasks', { payload: aiTask('t') })
    const worker = await bare.runTask('t')
    const payload = { summary: 's', plan_document: 'd' }
    const line = '/internal/v1/plans/default/t'
    expect((await bare.call(`POST ${line}`, { payload, token: worker.token })).statusCode).toBe(501)
    expect((await bare.call(`GET ${line}`, { token: worker.token })).statusCode).toBe(501)
    await bare.stop()
  })
})

describe('checkpoints', () => {
  it('come back as they were saved, also to the next attempt', async () => {
    const path = `/internal/v1/checkpoints/default/${name}`
    expect((await call(`GET ${path}`)).statusCode).toBe(404)
    const payload = '{"messages": [1, 2.50, "\\u0000"]}'
    const headers = { 'content-type': 'application/json' }
    expect((await call(`PUT ${path}`, { payload, headers })).statusCode).toBe(204)
    const next = await service.runTask(name, 2)
    const read = await call(`GET ${path}`, { token: next.token })
    expect([read.body, read.headers['content-type']]).toEqual([`[${payload}]`, 'application/json; charset=utf-8'])
  })

  it('are added to in between, each change once', async () => {
    const path = `/internal/v1/checkpoints/default/${name}`
    const add = (number: number, payload: object) => call(`POST ${path}?number=${number}`, { payload })
    expect((await add(1, { a: 1 })).statusCode).toBe(409)
    await call(`PUT ${path}`, { payload: { state: 1 } })
    expect((await add(1, { a: 1 })).statusCode).toBe(204)
    expect((await add(1, { a: 1 })).statusCode).toBe(204)
    expect((await add(3, { c: 3 })).statusCode).toBe(409)
    expect((await add(2, { b: 2 })).statusCode).toBe(204)
    expect((await call(`GET ${path}`)).json()).toEqual([{ state: 1 }, { a: 1 }, { b: 2 }])
    expect((await add(3, { text: 'x'.repeat(mebibyte) })).statusCode).toBe(413)
  })

  it('over 10 MiB are 413', async () => {
    const payload = { text: 'x'.repeat(10 * mebibyte) }
    expect((await call(`PUT /internal/v1/checkpoints/default/${name}`, { payload })).statusCode).toBe(413)
  })
})

describe('transcripts', () => {
  const path = () => `/internal/v1/sessions/default/talk-${count}/transcript`

  it('are read as one message a line, empty for a session that is not there yet [WORK-005]', async () => {
    const none = await call(`GET ${path()}`)
    expect([none.statusCode, none.body]).toEqual([200, ''])
    expect(none.headers['content-type']).toContain('application/x-ndjson')
    const key = { namespace: 'default', name: `talk-${count}` }
    await service.ports.records.sessions.ensure(key, { create: true, sessionType: 'task' })
    const payload = {
      messages: [
        { role: 'user', content: 'a\nb' },
        { role: 'assistant', content: 'c' },
      ],
      dedupe: 'once',
    }
    for (let again = 0; again < 2; again++) {
      expect((await call(`POST /internal/v1/transcripts/default/${name}`, { payload })).statusCode).toBe(204)
    }
    const lines = (await call(`GET ${path()}`)).body.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).content)).toEqual(['a\nb', 'c'])
    expect((await call(`GET ${path()}?maxMessages=1`)).body).not.toContain('a\\nb')
  })

  it('store each message with a dedupe key once per task', async () => {
    const key = { namespace: 'default', name: `talk-${count}` }
    await service.ports.records.sessions.ensure(key, { create: true, sessionType: 'task' })
    await service.call('POST /api/v1/tasks', { payload: aiTask(`second-${count}`, { sessionRef: { name: key.name } }) })
    const second = await service.runTask(`second-${count}`)
    const append = (task: string, bearer: string, content: string) => {
      const payload = { messages: [{ role: 'user', content }], dedupe: 'outcome' }
      return call(`POST /internal/v1/transcripts/default/${task}`, { payload, token: bearer })
    }
    await append(name, token, 'first')
    await append(name, token, 'first again')
    await append(`second-${count}`, second.token, 'second')
    const stored = await service.ports.records.sessions.transcript(key)
    expect(stored.map(({ content }) => content)).toEqual(['first', 'second'])
  })

  it('of another session are 403', async () => {
    expect((await call('GET /internal/v1/sessions/default/somebody-elses/transcript')).statusCode).toBe(403)
  })
})

describe('messages', () => {
  async function makeBoss(spec: TaskSpec) {
    const key = { namespace: 'default', name: `boss-${count}` }
    const { resources } = service.ports
    const boss = (await resources.get('Task', key)) ?? (await resources.create('Task', { metadata: key, spec }))
    return { name: key.name, uid: boss.metadata.uid }
  }
  async function makeSibling(sibling: string, metadata?: object) {
    const draft = (await service.ports.resources.get('Task', { namespace: 'default', name }))?.spec
    if (draft === undefined) throw new Error('no task')
    const boss = await makeBoss(draft)
    const ownerReferences = [{ apiVersion, kind: 'Task', ...boss, controller: true }]
    await service.ports.resources.create('Task', {
      metadata: { namespace: 'default', name: sibling, ...(metadata ?? { ownerReferences }) },
      spec: draft,
    })
    return (await service.runTask(sibling)).token
  }
  const send = (as: string, body: object) =>
    service.call('POST /internal/v1/messages/default', { payload: body, token: as })
  const read = async (who: string, as: string, query = '') => {
    const line = `GET /internal/v1/messages/default/${who}?parentTask=boss-${count}${query}`
    return (await service.call(line, { token: as })).json()
  }

  it('go to one sibling or to all, are unread until read, and carry all fields [MSG-001] [MSG-002] [MSG-003] [MSG-004] [MSG-005] [MSG-006] [MSG-007] [MSG-008] [MSG-009] [MSG-010] [WORK-009] [WORK-010] [WORK-012] [WORK-013]', async () => {
    const [ann, bob, cid] = [`ann-${count}`, `bob-${count}`, `cid-${count}`]
    const [annsToken, bobsToken, cidsToken] = [await makeSibling(ann), await makeSibling(bob), await makeSibling(cid)]
    const common = { fromTask: ann, parentTask: `boss-${count}` }
    const sent = await send(annsToken, { ...common, toTask: '*', content: 'to all' })
    expect([sent.statusCode, sent.body]).toEqual([204, ''])
    await send(annsToken, { ...common, toTask: bob, content: 'to bob' })
    expect(await read(bob, bobsToken, '&markRead=false')).toMatchObject([{ read: false }, { read: false }])
    const first = await read(bob, bobsToken)
    expect(first).toEqual([
      {
        ...common,
        id: expect.any(Number),
        namespace: 'default',
        toTask: '*',
        content: 'to all',
        read: true,
        createdAt: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ toTask: bob, content: 'to bob' }),
    ])
    expect(await read(bob, bobsToken)).toEqual([])
    expect((await read(cid, cidsToken)).map((message: { content: string }) => message.content)).toEqual(['to all'])
    expect(await read(ann, annsToken)).toEqual([])
  })

  it('reach no task that claims the family by a label, and no later task of the same name [MSG-006]', async () => {
    const [ann, bob, eve] = [`ann-${count}`, `bob-${count}`, `eve-${count}`]
    const boss = `boss-${count}`
    const annsToken = await makeSibling(ann)
    const claim = { labels: { 'svc.ai/parent-task': boss }, annotations: { 'svc.ai/parent-task-name': boss } }
    const evesToken = await makeSibling(eve, claim)
    const from = { fromTask: ann, parentTask: boss }
    expect((await send(annsToken, { ...from, toTask: '*', content: 'for the family' })).statusCode).toBe(204)
    const line = `GET /internal/v1/messages/default/${eve}?parentTask=${boss}`
    expect((await service.call(line, { token: evesToken })).statusCode).toBe(403)
    const forged = { fromTask: eve, parentTask: boss, toTask: '*', content: 'obey' }
    expect((await send(evesToken, forged)).statusCode).toBe(403)
    const astray = await send(annsToken, { ...from, toTask: eve, content: 'for a stranger' })
    expect([astray.statusCode, astray.json().error.message]).toEqual([404, expect.stringContaining(eve)])
    await makeSibling(bob)
    expect((await send(annsToken, { ...from, toTask: bob, content: 'for the first bob' })).statusCode).toBe(204)
    await service.ports.resources.remove('Task', { namespace: 'default', name: bob })
    const nextToken = await makeSibling(bob)
    expect(await read(bob, nextToken)).toMatchObject([{ content: 'for the family' }])
  })

  it('are sent in no other name and to no other family, and can be read only with a parent [WORK-011]', async () => {
    const dan = `dan-${count}`
    const dansToken = await makeSibling(dan)
    const forged = await send(dansToken, { fromTask: name, toTask: '*', parentTask: `boss-${count}`, content: 'x' })
    expect(forged.statusCode).toBe(403)
    const foreign = await send(dansToken, { fromTask: dan, toTask: '*', parentTask: 'another-boss', content: 'x' })
    expect(foreign.statusCode).toBe(403)
    const line = `GET /internal/v1/messages/default/${dan}`
    expect((await service.call(line, { token: dansToken })).statusCode).toBe(400)
    expect((await service.call(`${line}?parentTask=another-boss`, { token: dansToken })).statusCode).toBe(403)
    const incomplete = await send(dansToken, { fromTask: dan, toTask: '*', content: 'x' })
    expect([incomplete.statusCode, incomplete.json().error.details[0].path]).toEqual([400, 'parentTask'])
  })
})

const readHealth = (provider = '') =>
  service.ports.records.providerHealth.read({ namespace: 'default', name: provider })

/** A running task that says how calls of its provider and of that one's fallbacks went. */
async function startTeller(own = '', spares: (string | undefined)[] = []) {
  const task = `telling-${own}`
  for (const spare of spares) {
    await service.call('POST /api/v1/providers', { payload: { name: spare, spec: { type: 'llmo' } } })
  }
  const fallbacks = spares.map((spare) => ({ providerRef: { name: spare }, model: 'm' }))
  await service.call('POST /api/v1/providers', { payload: { name: own, spec: { type: 'llmo', fallbacks } } })
  await service.call('POST /api/v1/tasks', {
    payload: aiTask(task, { ai: { providerRef: { name: own }, model: 'm' } }),
  })
  const running = await service.runTask(task)
  const send = async (line: string, payload: object) => (await call(line, { payload, token: running.token })).statusCode
  return {
    task,
    taskUid: running.identity.taskUid,
    use: (provider = '', more: object = {}) =>
      send(`POST /internal/v1/usage/default/${task}`, {
        id: `to-${provider}`,
        provider: { namespace: 'default', name: provider },
        model: 'm',
        inputTokens: 1,
        outputTokens: 1,
        ...more,
      }),
    report: (provider = '', report: object = {}, namespace = 'default') =>
      send(`POST /internal/v1/provider-calls/${namespace}/${provider}`, report),
  }
}

describe('model calls', () => {
  it('are not taken for a provider of another namespace that the task does not use', async () => {
    const payload = {
      id: 'foreign',
      provider: { namespace: 'elsewhere', name: 'p' },
      model: 'm',
      inputTokens: 1,
      outputTokens: 1,
    }
    expect((await call(`POST /internal/v1/usage/default/${name}`, { payload })).statusCode).toBe(403)
    expect((await service.ports.records.usage.ofTask(identity.taskUid))?.inputTokens ?? 0).toBe(0)
  })

  it('are recorded once, with the cost by the price of the provider [USAGE-001] [USAGE-003]', async () => {
    const price = { currency: 'EUR', inputPerMillion: 10, outputPerMillion: 20, cachedInputPerMillion: 1 }
    await service.call('POST /api/v1/providers', {
      payload: { name: `priced-${count}`, spec: { type: 'llmo', price } },
    })
    const provider = { namespace: 'default', name: `priced-${count}` }
    const payload = {
      id: 'call-1',
      provider,
      model: 'm',
      inputTokens: 1_000_000,
      cachedTokens: 500_000,
      outputTokens: 100_000,
    }
    for (let again = 0; again < 2; again++) {
      expect((await call(`POST /internal/v1/usage/default/${name}`, { payload })).statusCode).toBe(204)
    }
    const sum = await service.ports.records.usage.ofTask(identity.taskUid)
    expect(sum).toMatchObject({
      inputTokens: 1_000_000,
      cachedTokens: 500_000,
      outputTokens: 100_000,
      llmCalls: 1,
      currency: 'EUR',
    })
    expect(sum?.cost).toBeCloseTo(7.5)
    const callers = (await service.call('GET /api/v1/usage?groupBy=caller')).json().items
    expect(callers.map((item: { key: string }) => item.key)).toContain('owner')
  })

  it('have no cost where the price has no rates: a currency alone does not make them free [USAGE-001]', async () => {
    await service.call('POST /api/v1/providers', {
      payload: { name: `unpriced-${count}`, spec: { type: 'llmo', price: { currency: 'EUR' } } },
    })
    const provider = { namespace: 'default', name: `unpriced-${count}` }
    const payload = { id: 'call-1', provider, model: 'm', inputTokens: 10, outputTokens: 5 }
    expect((await call(`POST /internal/v1/usage/default/${name}`, { payload })).statusCode).toBe(204)
    const sum = await service.ports.records.usage.ofTask(identity.taskUid)
    expect(sum).toMatchObject({ inputTokens: 10, outputTokens: 5, llmCalls: 1 })
    expect(sum?.currency).toBeUndefined()
  })

  it('take leases of the provider that the task uses, and of no other [PROV-009]', async () => {
    const rateLimit = { requestsPerMinute: 2 }
    await service.call('POST /api/v1/providers', { payload: { name: 'default', spec: { type: 'llmo', rateLimit } } })
    await service.call('POST /api/v1/providers', { payload: { name: 'foreign', spec: { type: 'llmo', rateLimit } } })
    const take = (provider: string) =>
      call(`POST /internal/v1/leases/default/${provider}`, { payload: { requests: 1, tokens: 10 } })
    expect((await take('default')).json()).toEqual({ granted: true, retryAfterMs: 0, tokens: 10 })
    await take('default')
    const refused = (await take('default')).json()
    expect(refused.granted).toBe(false)
    expect(refused.retryAfterMs).toBeGreaterThan(0)
    expect((await take('foreign')).statusCode).toBe(403)
  })

  it('take leases of the agent that the task is of, as it is now, and of no other', async () => {
    const make = (agent: string, rateLimit: object) =>
      service.call('POST /api/v1/agents', { payload: { name: agent, spec: { rateLimit } } })
    await make(`poet-${count}`, { requestsPerMinute: 1 })
    await make(`other-${count}`, { requestsPerMinute: 1 })
    await service.call('POST /api/v1/tasks', {
      payload: aiTask(`poem-${count}`, { agentRef: { name: `poet-${count}` } }),
    })
    const { token } = await service.runTask(`poem-${count}`)
    const take = (agent: string) =>
      service.call(`POST /internal/v1/leases/default/${agent}`, {
        token,
        payload: { kind: 'Agent', requests: 1, tokens: 10 },
      })
    expect((await take(`poet-${count}`)).json()).toEqual({ granted: true, retryAfterMs: 0, tokens: 10 })
    expect((await take(`poet-${count}`)).json()).toMatchObject({ granted: false, tokens: 0 })
    expect((await take(`other-${count}`)).statusCode).toBe(403)
    await service.call(`PUT /api/v1/agents/poet-${count}`, { payload: { spec: {} } })
    expect((await take(`poet-${count}`)).json()).toMatchObject({ granted: true })
  })

  it('take no more tokens than there can be, and give back what they did not use [PROV-009]', async () => {
    const rateLimit = { tokensPerMinute: 1000 }
    await service.call('POST /api/v1/providers', { payload: { name: 'counted', spec: { type: 'llmo', rateLimit } } })
    await service.call('POST /api/v1/tasks', {
      payload: aiTask(`counted-${count}`, { ai: { providerRef: { name: 'counted' } } }),
    })
    const { token: other } = await service.runTask(`counted-${count}`)
    const ask = async (payload: object) =>
      (await call('POST /internal/v1/leases/default/counted', { payload, token: other })).json()
    expect(await ask({ requests: 1, tokens: 5000 })).toEqual({ granted: true, retryAfterMs: 0, tokens: 1000 })
    expect(await ask({ requests: 1, tokens: 500 })).toMatchObject({ granted: false, tokens: 0 })
    expect(await ask({ requests: 0, tokens: -900 })).toEqual({ granted: true, retryAfterMs: 0, tokens: -900 })
    expect(await ask({ requests: 1, tokens: 500 })).toMatchObject({ granted: true, tokens: 500 })
    expect((await ask({ requests: 1, tokens: -1 })).error.details).toMatchObject([{ path: 'tokens' }])
  })

  it('report how the providers of their task answer, with the fallbacks, and nothing about others [PROV-011]', async () => {
    const [own, spare, foreign] = ['own', 'spare', 'alien'].map((word) => `${word}-${count}`)
    const teller = await startTeller(own, [spare])
    expect(await teller.use(foreign)).toBe(204)
    expect(await teller.use(own)).toBe(204)
    expect(await teller.report(spare, { failures: 3, reason: 'HTTP 500 for key sk-ant-api03-abcdefghijklmnop' })).toBe(
      204,
    )
    await waitFor(async () => (await readHealth(spare)) !== undefined, 'what was told to be written')
    expect(await readHealth(spare)).toEqual({
      failed: { at: expect.any(Date), reason: expect.stringContaining('[REDACTED]') },
      failures: 3,
    })
    expect(await readHealth(own)).toMatchObject({ goodAt: expect.any(Date), failures: 0 })
    expect(await readHealth(foreign)).toBeUndefined()
    expect(await teller.report(spare, { answered: true })).toBe(204)
    await waitFor(async () => (await readHealth(spare))?.failures === 0, 'the answer to be written')
    expect(await readHealth(spare)).toMatchObject({ goodAt: expect.any(Date), failed: {} })
  })

  it('that broke off count their tokens, without marking their provider as answering [PROV-011] [USAGE-001]', async () => {
    const [own, spare] = ['broken', 'whole'].map((word) => `${word}-${count}`)
    const teller = await startTeller(own, [spare])
    expect(await teller.use(own, { brokeOff: true })).toBe(204)
    expect(await teller.use(spare)).toBe(204)
    await waitFor(async () => (await readHealth(spare)) !== undefined, 'the answer to be written')
    expect(await readHealth(own)).toBeUndefined()
    expect(await service.ports.records.usage.ofTask(teller.taskUid)).toMatchObject({ inputTokens: 2, llmCalls: 2 })
  })

  it('say nothing of a provider that is not the task’s, nor when their attempt is over [PROV-011] [TASK-045]', async () => {
    const [own, foreign] = ['mine', 'theirs'].map((word) => `${word}-${count}`)
    const teller = await startTeller(own)
    await service.call('POST /api/v1/providers', { payload: { name: foreign, spec: { type: 'llmo' } } })
    const failed = { failures: 1, reason: 'HTTP 401' }
    expect(await teller.report(foreign, failed)).toBe(403)
    expect(await teller.report(own, failed, 'other')).toBe(403)
    await service.setStatus('Task', teller.task, { phase: 'Running', attempts: 2 })
    expect(await teller.report(own, failed)).toBe(403)
    await service.setStatus('Task', teller.task, { phase: 'Failed', attempts: 1 })
    expect(await teller.report(own, failed)).toBe(403)
    await service.setStatus('Task', teller.task, { phase: 'Running', attempts: 1 })
    expect(await teller.report(own, { answered: true })).toBe(204)
    await waitFor(async () => (await readHealth(own)) !== undefined, 'the answer to be written')
    expect(await readHealth(own)).toEqual({ goodAt: expect.any(Date), failures: 0 })
    expect(await readHealth(foreign)).toBeUndefined()
  })

  it.each([
    ['a reason that is too long', { failures: 1, reason: 'x'.repeat(1025) }, 'reason'],
    ['failures without a reason', { failures: 1 }, 'reason'],
    ['a reason without failures', { answered: true, reason: 'x' }, 'reason'],
    ['more failures than there can be', { failures: 10_001, reason: 'x' }, 'failures'],
    ['a field that nobody knows', { answered: true, goodAt: 'now' }, 'goodAt'],
  ])('are not reported with %s', async (_what, payload, path) => {
    const answer = await call(`POST /internal/v1/provider-calls/default/default`, { payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.details).toMatchObject([{ path }])
  })

  it('put their provider into a cool-down', async () => {
    await service.call('POST /api/v1/providers', { payload: { name: 'default', spec: { type: 'llmo' } } })
    const cool = (provider: string) =>
      call(`POST /internal/v1/cooldowns/default/${provider}`, { payload: { seconds: 60, reason: 'overloaded' } })
    expect((await cool('default')).statusCode).toBe(204)
    const state = await service.ports.records.rateLimits.coolingDown({ namespace: 'default', name: 'default' })
    expect(state?.reason).toBe('overloaded')
    const asked = await call('POST /internal/v1/leases/default/default', { payload: { requests: 0, tokens: 0 } })
    expect(asked.json()).toMatchObject({ granted: true, coolingDown: { reason: 'overloaded' } })
    expect(asked.json().coolingDown.forMs).toBeGreaterThan(0)
    expect((await cool('foreign')).statusCode).toBe(403)
  })
})
