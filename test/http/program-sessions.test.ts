// What agent programs keep of sessions: who gets it, and until when.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { maxProgramSessionBytes } from '../../src/contract/api/chat/program-sessions.ts'
import { type Service, startService } from './service.ts'

let service: Service
let session: string
let count = 0
beforeAll(async () => {
  service = await startService()
  for (const name of ['coder', 'other']) await addAgent(name)
  await addAgent('forgetful', { session: { maxMessages: 3 } })
})
afterAll(() => service.stop())
beforeEach(() => {
  session = `talk-${++count}`
})

async function addAgent(name: string, more: object = {}): Promise<void> {
  const spec = { runtime: { type: 'llma-cli' }, model: { name: 'main/m' }, ...more }
  const answer = await service.call('POST /api/v1/agents', { payload: { name, spec } })
  expect([answer.statusCode, answer.body]).toEqual([201, expect.anything()])
}

type Turn = { token: string; path: string; uid: string; end(): Promise<void> }

/** A task that runs and holds the session. */
async function begin(more: { agent?: string; append?: boolean; maxMessages?: number } = {}): Promise<Turn> {
  const { agent = 'coder', ...reference } = more
  const name = `turn-${++count}`
  const sessionRef = { name: session, create: true, ...reference }
  const payload = { name, type: 'agent', prompt: 'go on', agentRef: { name: agent }, sessionRef }
  expect((await service.call('POST /api/v1/tasks', { payload })).statusCode).toBe(201)
  const { token, identity } = await service.runTask(name)
  const key = { namespace: 'default', name: session }
  const { sessions } = service.ports.records
  await sessions.lock(key, identity.taskUid, { create: 'task' })
  return {
    token,
    uid: identity.taskUid,
    path: `/internal/v1/program-sessions/default/${name}?model=main/m`,
    async end() {
      const messages = [
        { role: 'user' as const, content: 'go on' },
        { role: 'assistant' as const, content: 'done' },
      ]
      if (reference.append !== false) await sessions.append(key, messages)
      await sessions.unlock(key, identity.taskUid)
      await service.setStatus('Task', name, { phase: 'Succeeded', attempts: 1 })
    },
  }
}

async function read({ token, path }: Turn): Promise<{ id: string; text: string } | number> {
  const answer = await service.call(`GET ${path}`, { token })
  return answer.statusCode === 200 ? answer.json() : answer.statusCode
}

async function keep({ token, path }: Turn, text: string, id = 'run-1'): Promise<number> {
  return (await service.call(`PUT ${path}`, { token, payload: { id, text } })).statusCode
}

/** One whole task that keeps the text. */
async function work(text: string, more: Parameters<typeof begin>[0] = {}): Promise<void> {
  const turn = await begin(more)
  expect(await keep(turn, text)).toBe(204)
  await turn.end()
}

describe('what a program keeps of a session', () => {
  it('is for the next task of the same agent and model', async () => {
    await work('first')
    const next = await begin()
    expect(await read(next)).toEqual({ id: 'run-1', text: 'first' })
    expect(await read({ ...next, path: next.path.replace('main/m', 'main/n') })).toBe(404)
    await next.end()
  })

  it('is nothing to another agent, nor to a new one of the same name', async () => {
    await work('first')
    const stranger = await begin({ agent: 'other' })
    expect(await read(stranger)).toBe(404)
    await stranger.end()
    session = `talk-${++count}`
    await addAgent('brief')
    await work('first', { agent: 'brief' })
    expect((await service.call('DELETE /api/v1/agents/brief')).statusCode).toBeLessThan(300)
    await addAgent('brief')
    expect(await read(await begin({ agent: 'brief' }))).toBe(404)
  })

  it('is of no use once the session has gone on without it', async () => {
    await work('first')
    await (await begin({ agent: 'other' })).end()
    expect(await read(await begin())).toBe(404)
  })

  it('is left as it was by a task that adds nothing to its session', async () => {
    await work('first')
    await work('unsaid', { append: false })
    expect(await read(await begin())).toEqual({ id: 'run-1', text: 'first' })
  })

  it('is not for a task that may not see all messages of the session', async () => {
    await work('first')
    await work('second')
    const narrow = await begin({ maxMessages: 3 })
    expect(await read(narrow)).toBe(404)
    await narrow.end()
    session = `talk-${++count}`
    for (const text of ['first', 'second']) await work(text, { agent: 'forgetful' })
    expect(await read(await begin({ agent: 'forgetful' }))).toBe(404)
  })

  it('is taken from who holds the session alone, within bounds', async () => {
    const turn = await begin()
    expect(await keep(turn, 'x', '--last')).toBe(400)
    expect(await keep(turn, 'x'.repeat(maxProgramSessionBytes + 1))).toBe(400)
    expect(await keep(turn, '"'.repeat(maxProgramSessionBytes))).toBe(204)
    await service.ports.records.sessions.unlock({ namespace: 'default', name: session }, turn.uid)
    expect(await keep(turn, 'x')).toBe(409)
  })
})
