// Approvals: a task asks over the worker API, and people answer over REST.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalItem } from '../../src/contract/api/tasks/approvals.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { createWorkerApi, type WorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let api: WorkerApi
let url: string
beforeEach(async () => {
  service = await startService()
  url = await service.listen()
  await service.call('POST /api/v1/tasks', { payload: aiTask('job') })
  const { token } = await service.runTask('job')
  const { signal } = new AbortController()
  const task = { namespace: 'default', name: 'job' }
  api = createWorkerApi({ api: { url, token }, task, clock: service.ports.clock, signal })
})
afterEach(() => service.stop())

const question = { tool: 'delete_agent', arguments: { name: 'helper' }, message: 'delete helper?', timeout: '1h' }
const ask = (call = '0-1-a') => api.coordination.askApproval(call, question)
const list = async (query = '') =>
  ((await service.call(`GET /api/v1/approvals${query}`)).json() as { items: ApprovalItem[] }).items

describe('an approval', () => {
  it('is asked once for a call, and shows who asks for what', async () => {
    const asked = await ask()
    expect(asked).toMatchObject({ status: 'pending', wait: { kind: 'approval', call: '0-1-a' } })
    expect(await ask()).toEqual(asked)
    const [item, ...others] = await list()
    expect(others).toEqual([])
    expect(item).toMatchObject({
      namespace: 'default',
      taskName: 'job',
      tool: 'delete_agent',
      arguments: { name: 'helper' },
      message: 'delete helper?',
      status: 'pending',
    })
    const read = await service.call(`GET /api/v1/approvals/${item?.id}`)
    expect(read.json()).toEqual(item)
    const events = (await service.call('GET /api/v1/tasks/job/events')).json() as { items: { type: string }[] }
    expect(events.items.filter(({ type }) => type === 'ApprovalRequested')).toHaveLength(1)
  })

  it.each([
    ['approve', 'approved'],
    ['decline', 'declined'],
  ])('that somebody wants to %s counts once, with who and why', async (verb, status) => {
    await ask()
    const [item] = await list()
    const send = () => service.call(`POST /api/v1/approvals/${item?.id}/${verb}`, { payload: { reason: 'I looked' } })
    const answers = await Promise.all([send(), send()])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409])
    const refused = answers.find(({ statusCode }) => statusCode === 409)
    expect(refused?.json().error.message).toContain(`cannot be answered: it is ${status}`)
    const [answered] = await list(`?status=${status}`)
    expect(answered).toMatchObject({ status, reason: 'I looked', answeredBy: { kind: 'token' } })
    expect(await ask()).toEqual({ status, reason: 'I looked', by: answered?.answeredBy?.name })
    const { metadata } = (await service.call('GET /api/v1/tasks/job')).json() as Task
    expect(metadata.annotations?.['svc.ai/woken-by']).toBe(item?.id)
  })

  it.each([
    ['another tool', { tool: 'cancel_task' }],
    ['other arguments', { arguments: { name: 'production' } }],
    ['another question', { message: 'delete production?' }],
  ])('is no answer to %s under the same name of the call', async (_, change) => {
    await ask()
    const [item] = await list()
    await service.call(`POST /api/v1/approvals/${item?.id}/approve`, { payload: {} })
    expect((await ask()).status).toBe('approved')
    const other = await api.coordination.askApproval('0-1-a', { ...question, ...change })
    expect(other.status).toBe('pending')
    expect(await list()).toHaveLength(2)
  })

  it('is found by task, state and namespace, and nowhere else', async () => {
    await ask('a')
    await ask('b')
    expect(await list('?taskName=job&status=pending&limit=1')).toHaveLength(1)
    expect(await list('?taskName=other')).toEqual([])
    expect(await list('?status=declined')).toEqual([])
    expect((await service.call('GET /api/v1/approvals?status=maybe')).statusCode).toBe(400)
    expect((await service.call('GET /api/v1/approvals?limit=0')).statusCode).toBe(400)
    expect((await service.call('GET /api/v1/approvals/appr-none')).statusCode).toBe(404)
    expect((await service.call('POST /api/v1/approvals/appr-none/approve', { payload: {} })).statusCode).toBe(404)
    const odd = await service.call('POST /api/v1/approvals/appr-none/approve', { payload: { reson: 'x' } })
    expect(odd.statusCode).toBe(400)
  })

  it('cannot be given by the task itself', async () => {
    await ask()
    const [item] = await list()
    const { token } = await service.runTask('job')
    const headers = { authorization: `Bearer ${token}` }
    const forged = await service.call(`POST /api/v1/approvals/${item?.id}/approve`, { payload: {}, headers })
    expect([401, 403]).toContain(forged.statusCode)
    expect((await list())[0]?.status).toBe('pending')
  })

  it("is answered by whom the agent's approvers name, and by nobody once the agent is gone", async () => {
    const ada = await service.ports.tokens.create({ name: 'ada', role: 'editor', serverTools: true })
    const coordination = { enabled: true, approvers: [{ kind: 'token', id: ada.record.id }] }
    await service.call('POST /api/v1/agents', { payload: { name: 'careful', spec: { coordination } } })
    await service.call('POST /api/v1/tasks', { payload: aiTask('guarded', { agentRef: { name: 'careful' } }) })
    const { token } = await service.runTask('guarded')
    const [namespace, name] = ['default', 'guarded']
    const { signal } = new AbortController()
    const asking = createWorkerApi({
      api: { url, token },
      task: { namespace, name },
      clock: service.ports.clock,
      signal,
    })
    await asking.coordination.askApproval('a', question)
    await asking.coordination.askApproval('b', question)
    const [first, second] = await list('?taskName=guarded')
    const approve = (item: ApprovalItem | undefined, as?: string) =>
      service.call(`POST /api/v1/approvals/${item?.id}/approve`, { payload: {}, ...(as && { token: as }) })

    const refused = await approve(first)
    expect([refused.statusCode, refused.json().error.message]).toEqual([
      403,
      `"owner" may not answer: coordination.approvers of the agent names token ${ada.record.id}`,
    ])
    const answered = await approve(first, ada.token)
    expect([answered.statusCode, answered.json().answeredBy]).toEqual([
      200,
      { kind: 'token', id: ada.record.id, name: 'ada' },
    ])
    const events = (await service.call('GET /api/v1/tasks/guarded/events')).json() as { items: { message: string }[] }
    expect(events.items.map(({ message }) => message)).toContain('delete_agent was approved by ada')

    expect((await service.call('DELETE /api/v1/agents/careful')).statusCode).toBe(204)
    const gone = await approve(second, ada.token)
    expect([gone.statusCode, gone.json().error.message]).toEqual([
      409,
      expect.stringContaining('create the agent again'),
    ])
  })
})
