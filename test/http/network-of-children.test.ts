// What a task makes has no more network than the task, whatever door it comes by; and who reads it is told.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeNetwork } from '../../src/cli/output/network-text.ts'
import type { TaskNetwork } from '../../src/contract/api/tasks/network.ts'
import { findGatedAttempt } from '../../src/lookup/gated-attempt.ts'
import { defaultNetworkSettings } from '../../src/rules/workspaces/network.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
let url: string
const network = { allow: ['pypi.org', '*.example.com'], onUnknown: 'ask' }
beforeAll(async () => {
  service = await startService()
  url = await service.listen()
  const coordination = (...names: string[]) => ({ enabled: true, allowedAgents: names.map((name) => ({ name })) })
  const agents: Record<string, object> = {
    lead: { network, coordination: coordination('middle', 'coder') },
    plain: { coordination: coordination('middle', 'coder') },
    middle: { coordination: coordination('coder') },
    coder: { runtime: { type: 'llma-cli' }, network: { allow: ['pypi.org', 'crates.io'] } },
  }
  for (const [name, spec] of Object.entries(agents)) {
    const made = await service.call('POST /api/v1/agents', {
      payload: { name, spec: { providerRef: { name: 'main' }, ...spec } },
    })
    expect(made.statusCode).toBe(201)
  }
})
afterAll(() => service.stop())

const { signal } = new AbortController()
let count = 0
/** The worker API of a running task. */
async function open(name: string) {
  const { token } = await service.runTask(name)
  const task = { namespace: 'default', name }
  return createWorkerApi({ api: { url, token }, task, clock: service.ports.clock, signal }).coordination
}
async function lead(agent = 'lead') {
  const name = `${agent}-${count++}`
  await service.call('POST /api/v1/tasks', { payload: aiTask(name, { agentRef: { name: agent } }) })
  return { name, api: await open(name) }
}
const command = { command: ['true'] }

async function read(name: string): Promise<NonNullable<TaskNetwork['network']>> {
  const found = (await service.call(`GET /api/v1/tasks/${name}/network`)).json() as TaskNetwork
  return found.network as NonNullable<TaskNetwork['network']>
}
/** As the gate is told. */
const rulesOf = async (name: string) => {
  const { identity } = await service.runTask(name)
  const { resources } = service.ports
  return (await findGatedAttempt({ resources, settings: defaultNetworkSettings, contextMode: 'off' }, identity))?.rules
}

it('a container has what its coordinator has, its gate decides so, and it says who narrowed it', async () => {
  const { name, api } = await lead()
  const { taskName } = await api.runContainer('a', command)
  const found = await read(taskName)
  expect(found).toEqual({ ...network, from: 'service', narrowedBy: { task: name, from: 'agent' } })
  expect(describeNetwork({ network: found })).toBe(
    `pypi.org, *.example.com; a person is asked about other hosts (the service says so, narrowed by task ${name} above it, whose agent says so)`,
  )
  expect(await rulesOf(taskName)).toMatchObject(network)
})

it('an agent has what both have, and so has what a task makes that has no network of its own', async () => {
  const { name, api } = await lead()
  const coder = await api.delegate('a', { agent: 'coder', prompt: 'x' })
  expect(await read(coder.taskName)).toMatchObject({ allow: ['pypi.org'], narrowedBy: { task: name } })
  const middle = await open((await api.delegate('b', { agent: 'middle', prompt: 'x' })).taskName)
  const { taskName } = await middle.runContainer('c', command)
  expect(await read(taskName)).toMatchObject({ ...network, narrowedBy: { task: name } })
})

it('a retry by a person keeps what was left, and a retry of that', async () => {
  const { name, api } = await lead()
  let last = (await api.runContainer('a', command)).taskName
  for (const _round of [1, 2]) {
    await service.setStatus('Task', last, { phase: 'Failed', attempts: 1 })
    const made = await service.call(`POST /api/v1/tasks/${last}/retry`)
    expect(made.statusCode).toBe(201)
    last = made.json().metadata.name
    expect(await read(last)).toMatchObject({ ...network, narrowedBy: { task: name } })
  }
  expect(await rulesOf(last)).toMatchObject(network)
})

it('nobody is given work at a host that the coordinator does not have: the service itself would reach it', async () => {
  const { api } = await lead()
  const workspace = { gitRepo: 'https://elsewhere.example/o/r.git' }
  const refused = 'the network of this task does not have elsewhere.example'
  await expect(api.runContainer('a', { ...command, workspace })).rejects.toThrow(refused)
  await expect(api.delegate('b', { agent: 'coder', prompt: 'x', workspace })).rejects.toThrow(refused)
  const inside = { gitRepo: 'https://git.example.com/o/r.git' }
  expect((await api.runContainer('c', { ...command, workspace: inside })).status).toBe('created')
})

it('what a coordinator without a network makes has its own', async () => {
  const { api } = await lead('plain')
  const workspace = { gitRepo: 'https://elsewhere.example/o/r.git' }
  const { taskName } = await api.runContainer('a', { ...command, workspace })
  expect(await read(taskName)).toEqual({ allow: ['open'], onUnknown: 'refuse', from: 'service' })
  const { taskName: coder } = await api.delegate('b', { agent: 'coder', prompt: 'x' })
  expect(await read(coder)).toEqual({ allow: ['pypi.org', 'crates.io'], onUnknown: 'refuse', from: 'agent' })
})

it('`always` is no answer for what a task above narrows', async () => {
  const { api } = await lead()
  const { taskName } = await api.delegate('a', { agent: 'coder', prompt: 'x' })
  const { task } = await service.runTask(taskName)
  const { id } = await service.ports.records.approvals.ask({
    namespace: 'default',
    task: { uid: task.metadata.uid, name: taskName },
    call: 'x',
    tool: 'network',
    arguments: { host: 'new.example:443' },
    message: 'May it?',
    expiresAt: new Date(service.ports.clock.now().getTime() + 3_600_000),
  })
  const always = await service.call(`POST /api/v1/approvals/${id}/approve`, { payload: { scope: 'always' } })
  expect(always.statusCode).toBe(400)
  expect(always.json().error.message).toContain('answer for the task')
})
