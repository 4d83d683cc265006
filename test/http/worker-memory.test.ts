// What running tasks propose to remember: decided by people, or by a policy of the operator, and never by themselves.
import { afterEach, expect, it } from 'vitest'
import { delegationKeys } from '../../src/rules/coordination/delegation.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
afterEach(() => service.stop())

const { signal } = new AbortController()
const fact = { type: 'memory', title: 'Reset', content: 'Staging is reset on Mondays.' }

/** What the worker of a task of the agent may do with memories. */
async function openWorker(agent: string, labels: Record<string, string> = {}) {
  const name = `of-${agent}`
  const spec = { providerRef: { name: 'main' } }
  await service.ports.resources.create('Agent', { metadata: { namespace: 'default', name: agent, labels }, spec })
  await service.call('POST /api/v1/tasks', { payload: aiTask(name, { agentRef: { name: agent } }) })
  const { token } = await service.runTask(name)
  const url = await address
  return createWorkerApi({
    api: { url, token },
    task: { namespace: 'default', name },
    clock: service.ports.clock,
    signal,
  }).memory
}
let address: Promise<string>

async function open(applyMemoriesOf?: string[]) {
  service = await startService(applyMemoriesOf === undefined ? {} : { usecases: { applyMemoriesOf } })
  address = service.listen()
  await service.call('POST /api/v1/providers', { payload: { name: 'main', spec: { type: 'demo' } } })
}
const listMemories = async () => (await service.call('GET /api/v1/memories')).json().items

it('waits for a person where no policy says otherwise', async () => {
  await open()
  const worker = await openWorker('scribe')
  expect(await worker.propose('1', fact)).toMatchObject({ status: 'pending', agentName: 'scribe' })
  expect(await listMemories()).toEqual([])
})

it('is applied at once for agents that the operator trusts, once, and says by what', async () => {
  await open(['default/scr*'])
  const worker = await openWorker('scribe')
  const proposal = await worker.propose('1', fact)
  expect(proposal).toMatchObject({
    status: 'applied',
    reviewer: 'policy',
    reviewedBy: { name: 'policy' },
    appliedBy: 'policy',
  })
  expect(await worker.propose('1', fact)).toEqual(proposal)
  const memories = await listMemories()
  expect(memories).toMatchObject([
    {
      id: proposal.appliedMemoryId,
      content: fact.content,
      createdBy: { kind: 'worker' },
      sourceProposalId: proposal.id,
    },
  ])
  expect(memories).toHaveLength(1)
  expect(await worker.propose('2', { ...fact, type: 'policy' })).toMatchObject({ status: 'pending' })
})

it('waits for a person for other agents, whatever name the model gives, and for agents that a model made', async () => {
  await open(['default/scribe', 'default/made*', 'other/*'])
  const stranger = await openWorker('stranger')
  expect(await stranger.propose('1', { ...fact, agent_name: 'scribe' })).toMatchObject({ status: 'pending' })
  const made = await openWorker('made-by-model', { [delegationKeys.createdByTask]: 'some-task' })
  expect(await made.propose('1', fact)).toMatchObject({ status: 'pending' })
  expect(await listMemories()).toEqual([])
})
