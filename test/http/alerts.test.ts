// Alerts of budgets and approvals reach a receiver, signed, each once however many replicas look, and again after a failure.
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createAlertUsecases } from '../../src/usecases/budgets/alerts.ts'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import { type Proxied, startProxied } from '../fixtures/proxy/proxied.ts'

type Received = { body: string; signature: string | undefined; delivery: string | undefined }

let proxied: Proxied
let receiver: Server
let received: Received[]
let status: number
const secret = randomBytes(16).toString('hex')
const egress = createEgress()

beforeEach(async () => {
  proxied = await startProxied()
  received = []
  status = 200
  receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const header = (name: string) => request.headers[name] as string | undefined
    received.push({ body, signature: header('x-svc-signature-256'), delivery: header('x-svc-delivery') })
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await new Promise((resolve) => receiver.close(resolve))
  await proxied.stop()
})

function openReplica(allowNetworks = ['127.0.0.0/8']) {
  const ports = { ...proxied.service.ports, egress }
  const ledger = createBudgetLedger(ports)
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/alerts`
  const settings = { allowNetworks, ownAddresses: () => [], alertWebhook: { url, secret } }
  return createAlertUsecases({ ports, ledger, settings } as never)
}

const record = (id: string, inputTokens: number) =>
  proxied.service.ports.records.usage.record([
    {
      id,
      namespace: 'default',
      provider: 'main',
      model: 'm',
      inputTokens,
      outputTokens: 0,
      cachedTokens: 0,
      demo: false,
      createdAt: proxied.service.ports.clock.now().toISOString(),
    },
  ])

const listed = async () => (await proxied.service.call('GET /api/v1/alerts')).json().items

describe('alerts', () => {
  it('of a budget are sent once per threshold and period by all replicas together, signed', async () => {
    await proxied.service.call('PUT /api/v1/budgets/all', { payload: { maxTokens: 100 } })
    const replicas = [openReplica(), openReplica()]
    const advance = () => Promise.all(replicas.map((replica) => replica.advance()))
    await advance()
    expect(received).toEqual([])
    await record('1', 55)
    await advance()
    await advance()
    await openReplica().advance()
    expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([{ kind: 'budget', name: 'all', threshold: 50 }])
    await record('2', 50)
    await advance()
    expect(received.map(({ body }) => JSON.parse(body).threshold)).toEqual([50, 100])
    for (const { body, signature, delivery } of received) {
      expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
      expect(delivery).toBe(JSON.parse(body).id)
    }
    expect(await listed()).toMatchObject([
      { threshold: 100, delivery: 'delivered' },
      { threshold: 50, delivery: 'delivered' },
    ])
  })

  it('wait to be sent again when the receiver fails, and are not sent into networks that are not allowed', async () => {
    await proxied.service.call('PUT /api/v1/budgets/all', { payload: { maxTokens: 10 } })
    await record('1', 10)
    status = 500
    await openReplica().advance()
    expect(received).toHaveLength(1)
    expect(await listed()).toMatchObject([
      { delivery: 'pending', attempts: 1, lastError: 'the receiver answered 500; it must answer 2xx' },
    ])
    await proxied.service.call('PUT /api/v1/budgets/other', { payload: { maxTokens: 10 } })
    await openReplica([]).advance()
    expect(received).toHaveLength(1)
    expect((await listed()).map(({ delivery }: { delivery: string }) => delivery)).toEqual(['pending', 'pending'])
  })

  it('say that an approval waits, and are for owners', async () => {
    const { approvals } = proxied.service.ports.records
    const expiresAt = new Date(proxied.service.ports.clock.now().getTime() + 3_600_000)
    const task = { uid: 'u1', name: 'asks' }
    await approvals.ask({
      namespace: 'default',
      task,
      call: 'c1',
      tool: 'deploy',
      arguments: {},
      message: 'may I?',
      expiresAt,
    })
    await openReplica().advance()
    await openReplica().advance()
    expect(received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { kind: 'approval', namespace: 'default', task: 'asks', message: expect.stringContaining('deploy') },
    ])
    const { token } = (await proxied.service.call('POST /api/v1/tokens', { payload: { name: 'editor' } })).json()
    expect((await proxied.service.call('GET /api/v1/alerts', { token })).statusCode).toBe(403)
  })
})
