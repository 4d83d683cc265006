// Payloads that the code host has published, all of them, through the endpoint.

import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CodeHosts } from '../../src/ports/codehost/code-host.ts'
import { isHandledEvent } from '../../src/rules/codehost/event.ts'
import { makeDelivery, makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type Service, startService } from './service.ts'

type Payload = { action?: string; label?: { name: string }; repository?: { clone_url: string } }
type Example = { name: string; examples: Payload[] }

const load = createRequire(import.meta.url)
const sources = ['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35']
const examples = sources.flatMap((source) => {
  const events = load(`@octokit/webhooks-examples/${source}/index.json`) as Example[]
  return events.flatMap(({ name, examples: payloads }) =>
    payloads.map((payload, at) => ({ event: name, payload, id: `${source}-${name}-${at}` })),
  )
})
const secret = makeSecret()
/** Of GitHub itself and of the Enterprise hosts in the payloads. */
const codeHosts = [
  ...new Set(
    examples.flatMap(({ payload }) => (payload.repository ? [new URL(payload.repository.clone_url).host] : [])),
  ),
]
// The payloads are of one repository: in one service some of them would end what others ask for.
let service: Service
let fresh: Service

async function start(): Promise<Service> {
  const started = await startService({
    usecases: { webhook: { secret, agent: 'builder' } },
    codeHosts: { hosts: codeHosts } as unknown as CodeHosts,
    logLevel: 'warn',
  })
  await started.call('POST /api/v1/agents', { payload: { name: 'builder', spec: { runtime: { type: 'llma-cli' } } } })
  return started
}

beforeAll(async () => {
  service = await start()
  fresh = await start()
})
afterAll(() => Promise.all([service.stop(), fresh.stop()]))

async function send(sent: { event: string; payload: unknown; id: string }, to: Service) {
  const { payload, headers } = makeDelivery({ ...sent, secret })
  const answer = await to.call('POST /webhooks/codehost', { token: null, payload, headers })
  return { status: answer.statusCode, body: answer.json() }
}

describe('published payloads', () => {
  it('are many', () => {
    expect(examples.length).toBeGreaterThan(329)
    expect(new Set(examples.map(({ event }) => event)).size).toBeGreaterThanOrEqual(58)
  })

  it('are all taken, and each can be found with what it led to', async () => {
    for (const example of examples) {
      const { status, body } = await send(example, service)
      expect([example.id, status, body]).toEqual([example.id, 202, expect.anything()])
      if (example.event === 'ping') continue
      const stored = await service.ports.records.deliveries.get(example.id)
      expect(stored?.outcome.message.length).toBeGreaterThan(0)
      expect(stored?.event).toBe(example.event)
    }
  })

  it('of labels make tasks when the label has the prefix', async () => {
    const labeled = examples.filter(({ event, payload }) => isHandledEvent(event) && payload.action === 'labeled')
    expect(labeled.length).toBeGreaterThan(0)
    for (const { event, payload, id } of labeled) {
      const changed = { ...payload, label: { ...payload.label, name: 'agent:implement' } }
      const { status, body } = await send({ event, payload: changed, id: `prefixed-${id}` }, fresh)
      expect([id, status, body.status]).toEqual([id, 201, 'created'])
      expect(codeHosts.length).toBeGreaterThan(1)
      const task = await fresh.ports.resources.get('Task', { namespace: 'default', name: body.taskName })
      expect(task?.spec.workspace?.gitRepo).toBe(payload.repository?.clone_url)
    }
  })
})
