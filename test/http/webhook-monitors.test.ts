// Events of pull requests at the monitors of their repositories, and deliveries whose worker has died.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readEvent } from '../../src/rules/codehost/event.ts'
import { createDeliveryUsecases } from '../../src/usecases/codehost/deliveries/deliveries.ts'
import { defaultWebhookSettings } from '../../src/usecases/codehost/deliveries/settings.ts'
import { label, makeDelivery, makeSecret, pull, pullEvent, repository } from '../fixtures/codehost/deliveries.ts'
import { type Service, startService } from './service.ts'

const secret = makeSecret()
let service: Service

beforeAll(async () => {
  service = await startService({ usecases: { webhook: { secret } } })
  await service.ports.secrets.create({
    namespace: 'default',
    name: 'vendor',
    stringData: { VENDOR_API_KEY: 'made-up' },
  })
  const reviewer = { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } }
  await service.call('POST /api/v1/agents', { payload: { name: 'reviewer', spec: reviewer } })
  const monitor = (name: string, review: object, more: object = {}) =>
    service.call('POST /api/v1/monitors/repositories', {
      payload: {
        name,
        spec: {
          repoURL: 'https://github.com/octo/demo',
          branch: 'main',
          agents: { reviewer: { name: 'reviewer' } },
          review,
          ...more,
        },
      },
    })
  expect((await monitor('exact', { exactEventEnabled: true })).statusCode).toBe(201)
  expect((await monitor('scheduled', { exactEventEnabled: false })).statusCode).toBe(201)
  expect((await monitor('paused', { exactEventEnabled: true }, { suspend: true })).statusCode).toBe(201)
})
afterAll(() => service.stop())

async function send(sent: { event: string; payload: unknown; id?: string }) {
  const { payload, headers, id } = makeDelivery({ ...sent, secret })
  const answer = await service.call('POST /webhooks/codehost', { token: null, payload, headers })
  return { id, status: answer.statusCode, body: answer.json() }
}

const runsOf = async (monitor: string) =>
  (await service.call(`GET /api/v1/monitors/repositories/${monitor}/runs`)).json().items
const at = (number: number, digit: string) =>
  pull(number, { head: { ref: 'x', sha: digit.repeat(40), repo: repository() } })

describe('an event of a pull request', () => {
  it('queues a run at exactly its head, for monitors that want it [HOOK-006]', async () => {
    for (const action of ['opened', 'reopened', 'synchronize', 'ready_for_review']) {
      const number = action.length
      const { status, body } = await send(pullEvent(action, { pull_request: at(number, '1') }))
      expect([status, body]).toEqual([
        201,
        expect.objectContaining({
          status: 'created',
          matchedMonitors: 1,
          monitorRunsQueued: 1,
          monitorRunsCached: 0,
          monitorRunsSkipped: 0,
          runIDs: [expect.stringMatching(/^monrun-exact-/)],
        }),
      ])
    }
    expect(await runsOf('scheduled')).toEqual([])
    expect(await runsOf('paused')).toEqual([])
    expect(await runsOf('exact')).toContainEqual(
      expect.objectContaining({ trigger: 'pull_request_event', targetNumber: 6, targetSHA: '1'.repeat(40) }),
    )
  })

  it('queues one run for one head, whatever tells of it, and one for each delivery', async () => {
    const payload = { pull_request: at(40, '2') }
    const before = (await runsOf('exact')).length
    const answers = await Promise.all([
      send(pullEvent('opened', payload)),
      send(pullEvent('synchronize', payload)),
      send(pullEvent('labeled', { ...payload, ...label('agent:review') })),
      send(pullEvent('unlabeled', { ...payload, ...label('other') })),
    ])
    expect((await runsOf('exact')).length).toBe(before + 1)
    const queued = answers.map(({ body }) => body.monitorRunsQueued).sort()
    expect(queued).toEqual([0, 0, 0, 1])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 202, 202, 202])
    const sent = { ...pullEvent('synchronize', { pull_request: at(40, '3') }), id: 'same' }
    expect((await send(sent)).body.monitorRunsQueued).toBe(1)
    expect((await send(sent)).body.status).toBe('duplicate')
    expect((await runsOf('exact')).length).toBe(before + 2)
  })

  it('with a label that has no agent is no fault where a monitor has taken it', async () => {
    const { status, body } = await send(
      pullEvent('labeled', { pull_request: at(41, '4'), ...label('agent:implement') }),
    )
    expect([status, body.message]).toEqual([201, expect.stringContaining('the label made no task: no agent is set')])
  })

  it('for another branch or repository queues nothing', async () => {
    const base = { ref: 'release', sha: 'b'.repeat(40), repo: repository() }
    expect((await send(pullEvent('opened', { pull_request: pull(42, { base }) }))).body.status).toBe('ignored')
    const other = { repository: repository('octo/other'), pull_request: at(42, '5') }
    expect((await send(pullEvent('opened', other))).body.status).toBe('ignored')
  })
})

describe('a delivery whose worker has died', () => {
  const payloadOf = (digit: string) => pullEvent('opened', { pull_request: at(50, digit) }).payload

  /** As a process leaves it that dies while it works the delivery off. */
  const abandon = async (id: string, digit: string) => {
    const facts = readEvent('pull_request', payloadOf(digit))
    if ('problem' in facts) throw new Error(facts.problem)
    const outcome = { status: 'accepted', message: 'stored' } as const
    const { deliveries } = service.ports.records
    await deliveries.accept({ id, namespace: 'default', event: 'pull_request', facts, state: 'pending', outcome })
    expect(await deliveries.claim(id, { worker: 'dead', leaseMs: 50 })).toBeDefined()
  }

  it('is taken up by another one, once, and nothing is doubled [HOOK-008]', async () => {
    await abandon('orphan', '6')
    const { deliveries } = service.usecases
    const before = (await runsOf('exact')).length
    await expect.poll(() => deliveries.due(10)).toEqual(['orphan'])
    await Promise.all([deliveries.process('orphan'), deliveries.process('orphan'), deliveries.process('orphan')])
    expect(await service.ports.records.deliveries.get('orphan')).toMatchObject({
      state: 'done',
      outcome: { monitorRunsQueued: 1 },
    })
    expect((await runsOf('exact')).length).toBe(before + 1)
    expect((await deliveries.due(10)).includes('orphan')).toBe(false)
  })

  it('is not told to the code host as failed, and is tried again when something is away', async () => {
    let isAway = true
    const { deliveries } = service.ports.records
    const usecases = createDeliveryUsecases({
      ports: service.ports,
      resources: service.usecases.resources,
      settings: { ...defaultWebhookSettings, hosts: ['github.com'], secret },
      queueRuns: async () => {
        if (isAway) throw new Error('the database is away')
        return { matchedMonitors: 1, monitorRunsQueued: 1, monitorRunsCached: 0, monitorRunsSkipped: 0, runIDs: ['r'] }
      },
    })
    const { payload, headers } = makeDelivery({ event: 'pull_request', payload: payloadOf('7'), secret })
    const answer = await usecases.receive({
      event: 'pull_request',
      delivery: 'later',
      signature: headers['x-hub-signature-256'],
      contentType: 'application/json',
      body: Buffer.from(payload),
    })
    expect(answer.outcome).toMatchObject({ status: 'accepted', message: 'the database is away' })
    expect(await deliveries.get('later')).toMatchObject({ state: 'pending', attempts: 1, dueAt: expect.any(String) })
    isAway = false
    await expect.poll(() => usecases.due(10), { timeout: 5000 }).toContain('later')
    await usecases.process('later')
    expect(await deliveries.get('later')).toMatchObject({ state: 'done', attempts: 2 })
  })
})
