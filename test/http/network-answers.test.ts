// Who answers what the gate asks about a host, how far the answer goes, and what everybody who reads the task is told of its network.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/contract/api/identity/access.ts'
import type { ApprovalItem } from '../../src/contract/api/tasks/approvals.ts'
import type { TaskNetwork } from '../../src/contract/api/tasks/network.ts'
import type { Agent } from '../../src/contract/kinds/agents/agent.ts'
import type { Caller } from '../../src/ports/identity/identity.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { type Service, startService } from './service.ts'

const roles = ['viewer', 'runner', 'editor'] as const
const namespace = 'team'
let service: Service
const tokens = {} as Record<Role, string>
beforeAll(async () => {
  const network = {
    agents: ['packages'],
    commands: ['packages', 'codehost'],
    onUnknown: 'ask' as const,
    namespaces: {},
    allowsOpen: false,
    independent: [],
    ports: [80, 443],
  }
  service = await startService({ usecases: { network } })
  for (const role of roles)
    tokens[role] = (await service.ports.tokens.create({ name: role, role, serverTools: true })).token
  await service.call(`POST /api/v1/agents?namespace=${namespace}`, {
    payload: { metadata: { name: 'coder', namespace }, spec: { runtime: { type: 'llma-cli' } } },
  })
})
afterAll(() => service.stop())

const call = (line: string, role?: Role, payload?: object) =>
  service.call(`${line}?namespace=${namespace}`, { ...(role && { token: tokens[role] }), ...(payload && { payload }) })

const program = { type: 'agent', agentRef: { name: 'coder' }, prompt: 'x' }
const command = { type: 'container', command: ['true'] }

let count = 0
async function makeTask(spec: object): Promise<{ name: string; uid: string }> {
  const name = `t-${count++}`
  const made = await call('POST /api/v1/tasks', 'runner', { metadata: { name, namespace }, spec })
  expect(made.statusCode).toBe(201)
  const { task } = await service.runTask(name, 1, namespace)
  return { name, uid: task.metadata.uid }
}

/** As the gate does. */
async function ask(task: { name: string; uid: string }, host = 'new.example:443'): Promise<string> {
  const { id } = await service.ports.records.approvals.ask({
    namespace,
    task,
    call: host,
    tool: 'network',
    arguments: { host },
    message: `May it reach ${host}?`,
    expiresAt: new Date(service.ports.clock.now().getTime() + 3_600_000),
  })
  return id
}

async function answer(id: string, role: Role, payload: object = {}, verb = 'approve') {
  const sent = await call(`POST /api/v1/approvals/${id}/${verb}`, role, payload)
  return {
    status: sent.statusCode,
    message: String(sent.json().error?.message ?? ''),
    item: sent.json() as ApprovalItem,
  }
}
const statusOf = async (id: string) => (await service.ports.records.approvals.get(id))?.status
const readAgent = async () => (await call('GET /api/v1/agents/coder')).json() as Agent

describe('a host that a task asks for', () => {
  it.each([
    ['viewer', 'new.example:443', 403],
    ['runner', 'new.example:443', 403],
    ['editor', 'new.example:443', 200],
    ['runner', 'pypi.org:443', 200],
    ['viewer', 'pypi.org:443', 403],
  ] as const)('is answered by whoever may give the task such a network: %s, %s', async (role, host, status) => {
    for (const verb of ['approve', 'decline']) {
      const id = await ask(await makeTask(program), host)
      expect((await answer(id, role, {}, verb)).status).toBe(status)
      if (status === 403) expect(await statusOf(id)).toBe('pending')
    }
  })

  it('says to whom is refused what is missing', async () => {
    const refused = await answer(await ask(await makeTask(program)), 'runner', { scope: 'once' })
    expect(refused.message).toContain('the network of "team" does not have new.example:443')
  })

  it('is never answered by a model, nor by a task', async () => {
    const task = await makeTask(program)
    const id = await ask(task)
    const rights = { role: 'owner', serverTools: true, isModel: true } as const
    const model: Caller = { authType: 'token', username: 'ada', groups: [], ...rights }
    const asModel = service.usecases.approvals.answer(model, { namespace, id }, { status: 'approved' })
    await expect(asModel).rejects.toMatchObject({ reason: 'Forbidden' })
    const { token } = await service.runTask(task.name, 1, namespace)
    const forged = await service.call(`POST /api/v1/approvals/${id}/approve?namespace=${namespace}`, {
      token,
      payload: {},
    })
    expect([401, 403]).toContain(forged.statusCode)
    expect(await statusOf(id)).toBe('pending')
  })

  it.each([
    [{}, 'task'],
    [{ scope: 'once' }, 'once'],
    [{ scope: 'task' }, 'task'],
  ])('is answered as far as is said: %j', async (payload, scope) => {
    const task = await makeTask(program)
    const { item } = await answer(await ask(task), 'editor', payload)
    expect(item).toMatchObject({ status: 'approved', scope })
    const events = (await call(`GET /api/v1/tasks/${task.name}/events`)).json() as { items: { message: string }[] }
    expect(events.items[0]?.message).toBe(`network, new.example:443, ${scope} was approved by editor`)
    expect((await readAgent()).spec.network).toBeUndefined()
  })

  it('is always reached by the agent where that is the answer, with the right to change it', async () => {
    const id = await ask(await makeTask(program), 'db.example:5432')
    expect((await answer(id, 'runner', { scope: 'always' })).status).toBe(403)
    expect((await answer(id, 'editor', { scope: 'always' })).item).toMatchObject({
      status: 'approved',
      scope: 'always',
    })
    expect((await readAgent()).spec.network).toEqual({ allow: ['packages', 'db.example:5432'], onUnknown: 'ask' })
    const next = await ask(await makeTask(program))
    await answer(next, 'editor', { scope: 'always' })
    const { network } = (await readAgent()).spec
    expect(network?.allow).toEqual(['packages', 'db.example:5432', 'new.example'])
    expect((await answer(next, 'editor', { scope: 'always' })).status).toBe(409)
  })

  it.each([
    ['without an agent', command, 'add new.example:443 to spec.network of the next task'],
    [
      'with a network of its own',
      { ...program, network: { allow: ['packages'], onUnknown: 'ask' } },
      'has a network of its own',
    ],
  ])('cannot be remembered for a task %s, which says what to do', async (_what, spec, advice) => {
    const id = await ask(await makeTask(spec))
    const refused = await answer(id, 'editor', { scope: 'always' })
    expect([refused.status, refused.message]).toEqual([400, expect.stringContaining(advice)])
    expect(await statusOf(id)).toBe('pending')
    expect((await answer(id, 'editor', { scope: 'task' })).status).toBe(200)
  })

  it('is the only question whose answer has a scope', async () => {
    const task = await makeTask(program)
    const { token } = await service.runTask(task.name, 1, namespace)
    const url = await service.listen()
    const { signal } = new AbortController()
    const asking = { namespace, name: task.name }
    const api = createWorkerApi({ api: { url, token }, task: asking, clock: service.ports.clock, signal })
    const question = { tool: 'network', arguments: { host: 'evil.example:443' }, message: 'May I?', timeout: '1h' }
    await api.coordination.askApproval('a', question)
    const [item] = await service.ports.records.approvals.list({ taskName: task.name, limit: 1 })
    expect(item?.tool).toBe('tool network')
    expect((await answer(item?.id ?? '', 'editor', { scope: 'always' })).status).toBe(400)
    expect((await answer(item?.id ?? '', 'editor', { scope: 'once' }, 'decline')).status).toBe(400)
    expect((await answer(item?.id ?? '', 'editor')).item.scope).toBeUndefined()
  })
})

describe('the network of a task', () => {
  const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, seconds)).toISOString()
  const host = (name: string, parts: object = {}) => ({
    host: name,
    port: 443,
    connections: 0,
    refused: 0,
    unlisted: 0,
    sent: 0,
    received: 0,
    firstAt: at(1),
    lastAt: at(2),
    ...parts,
  })
  const read = async (name: string, role?: Role) => {
    const answered = await call(`GET /api/v1/tasks/${name}/network`, role)
    return { status: answered.statusCode, ...(answered.json() as TaskNetwork) }
  }

  it('sums what all attempts reached and were refused, says what allows it, and what would', async () => {
    const task = await makeTask({ ...command, network: { allow: ['codehost'], onUnknown: 'ask' } })
    const { network } = service.ports.records
    await network.add({ taskUid: task.uid, attempt: 1 }, [
      host('github.com', { connections: 1, sent: 10, received: 5 }),
      host('new.example', { refused: 2, unlisted: 2, reason: 'a person is asked' }),
      host('worse.example', { refused: 1, unlisted: 1 }),
      host('127.0.0.1', { refused: 1, unlisted: 1 }),
    ])
    await network.add({ taskUid: task.uid, attempt: 2 }, [
      host('github.com', { connections: 2, received: 100, lastAt: at(9) }),
      host('new.example', { connections: 1, received: 7 }),
    ])
    await answer(await ask(task), 'editor')
    await answer(await ask(task, 'worse.example:443'), 'editor', {}, 'decline')
    for (const role of roles) {
      expect(await read(task.name, role)).toEqual({
        status: 200,
        network: { allow: ['codehost'], onUnknown: 'ask', from: 'task' },
        hosts: [
          {
            host: 'github.com',
            port: 443,
            connections: 3,
            refused: 0,
            sent: 10,
            received: 105,
            firstAt: at(1),
            lastAt: at(9),
            allowedBy: 'codehost',
          },
          {
            host: 'new.example',
            port: 443,
            connections: 1,
            refused: 2,
            sent: 0,
            received: 7,
            firstAt: at(1),
            lastAt: at(2),
            allowedBy: 'approval',
            reason: 'a person is asked',
          },
          { ...host('127.0.0.1', { refused: 1 }), unlisted: undefined },
          { ...host('worse.example', { refused: 1 }), unlisted: undefined },
        ],
        learned: ['github.com', 'new.example'],
      })
    }
  })

  it('is what its namespace or the service has where nothing else is said, and none where no program runs', async () => {
    const { name } = await makeTask(command)
    const nothing = { hosts: [], learned: [] }
    const network = { allow: ['packages', 'codehost'], onUnknown: 'ask', from: 'service' }
    expect(await read(name)).toEqual({ status: 200, network, ...nothing })
    await call('POST /api/v1/tasks', 'runner', {
      metadata: { name: 'words', namespace },
      spec: { type: 'ai', prompt: 'x' },
    })
    expect(await read('words')).toEqual({ status: 200, ...nothing })
  })

  it('is read by whoever reads the log, and by nobody else', async () => {
    const { name } = await makeTask(command)
    const bound = { name: 'elsewhere', namespace: 'other', role: 'editor', serverTools: true } as const
    const elsewhere = await service.ports.tokens.create(bound)
    for (const path of ['logs', 'network']) {
      const line = `GET /api/v1/tasks/${name}/${path}?namespace=${namespace}`
      expect((await service.call(line, { token: elsewhere.token })).statusCode).toBe(403)
      expect((await service.call(line, { token: null })).statusCode).toBe(401)
    }
    expect((await read('nobody')).status).toBe(404)
  })
})
