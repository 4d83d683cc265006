// What ends at monitors when a pull request is closed, or when the label is taken off that asked for its review.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import type { Controller } from '../../src/controllers/engine/controller.ts'
import { createMonitorController } from '../../src/controllers/monitors/controller.ts'
import { createEgress } from '../../src/egress/egress.ts'
import {
  commentEvent,
  issue,
  label,
  makeDelivery,
  makeSecret,
  pull,
  pullEvent,
  repository,
} from '../fixtures/codehost/deliveries.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { type Service, startService } from './service.ts'

const full = 'acme/site'
const secret = makeSecret()
let host: CodeHostServer
let service: Service
let controller: Controller

beforeAll(async () => {
  host = await startCodeHost({ repositories: [full] })
  const codeHosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': host.url },
    egress: createEgress(),
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
  service = await startService({ codeHosts, usecases: { webhook: { secret, gitSecret: 'git' } } })
  const { secrets } = service.ports
  await secrets.create({ namespace: 'default', name: 'vendor', stringData: { VENDOR_API_KEY: 'made-up' } })
  await secrets.create({ namespace: 'default', name: 'git', stringData: { token: host.tokenOf('writer') } })
  const agent = { name: 'reviewer', spec: { runtime: { type: 'llma-cli' }, secretRef: { name: 'vendor' } } }
  await service.call('POST /api/v1/agents', { payload: agent })
  const spec = {
    repoURL: `https://github.com/${full}`,
    branch: 'main',
    agents: { reviewer: { name: 'reviewer' } },
    gitSecretRef: { name: 'git' },
    review: { exactEventEnabled: true },
  }
  const made = await service.call('POST /api/v1/monitors/repositories', { payload: { name: 'reviews', spec } })
  expect(made.statusCode).toBe(201)
  controller = createMonitorController({
    ...service.ports,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as never,
    settings: { isolateNamespaces: false, markerKeys: [randomBytes(32)] },
  })
})
afterAll(async () => {
  await service.stop()
  await host.close()
})

const step = () => controller.reconcile('default/reviews', new AbortController().signal)
const patch = '@@ -1 +1 @@\n-port 80\n+port 8080'
const openPull = () => host.openPull(full, { files: [{ filename: 'a.txt', patch }] })

type Told = { number: number; head: string; minute: number; more?: object }

async function tell(action: string, { number, head, minute, more = {} }: Told) {
  const updated_at = `2030-01-01T00:${String(minute).padStart(2, '0')}:00Z`
  const sides = { head: { ref: 'topic', sha: head, repo: repository(full) } }
  const base = { ref: 'main', sha: head, repo: repository(full) }
  const about = { repository: repository(full), pull_request: pull(number, { ...sides, base, updated_at }), ...more }
  const { payload, headers } = makeDelivery({ ...pullEvent(action, about), secret })
  return (await service.call('POST /webhooks/codehost', { token: null, payload, headers })).json()
}

async function findReviews(number: number): Promise<Task[]> {
  const { items } = await service.ports.resources.list('Task', { labelSelector: `svc.ai/codehost-number=${number}` })
  return items
}
const isCancelled = ({ metadata }: Task) =>
  Object.keys(metadata.annotations ?? {}).some((key) => key.includes('cancel'))
const read = async (path: string) => (await service.call(`GET /api/v1/monitors/repositories/reviews/${path}`)).json()
const itemOf = async (number: number) => (await read(`items?number=${number}`)).items[0]
const queuedRuns = async () =>
  (await read('runs')).items.filter(({ phase }: { phase: string }) => phase === 'queued').length

describe('a pull request that is closed', () => {
  it('ends its review and its runs that wait, and those of no other', async () => {
    const [closed, other] = [await openPull(), await openPull()]
    await tell('opened', { ...closed, minute: 1 })
    await tell('opened', { ...other, minute: 1 })
    await step()
    const [review] = await findReviews(closed.number)
    expect(review?.metadata.name).toMatch(/^monrev-/)
    await tell('synchronize', { ...closed, head: 'c'.repeat(40), minute: 2 })
    await tell('synchronize', { ...other, head: 'd'.repeat(40), minute: 2 })
    expect(await queuedRuns()).toBe(2)

    const answer = await tell('closed', { ...closed, minute: 3 })
    expect(answer).toMatchObject({
      status: 'accepted',
      message: `pull request ${full}#${closed.number} was closed: 1 task was cancelled, 1 run was withdrawn`,
      cancelledTasks: [`default/${review?.metadata.name}`],
      cancelledRuns: [expect.stringMatching(/^monrun-reviews-/)],
    })
    expect((await findReviews(closed.number)).map(isCancelled)).toEqual([true])
    expect((await findReviews(other.number)).map(isCancelled)).toEqual([false])
    expect(await queuedRuns()).toBe(1)
    expect(await itemOf(closed.number)).toMatchObject({
      state: 'out_of_scope',
      lastVerdict: 'skipped',
      skipReason: 'not_open_or_base_branch_changed',
    })

    await service.setStatus('Task', review?.metadata.name ?? '', { phase: 'Cancelled', attempts: 1 })
    await step()
    expect(await findReviews(closed.number)).toHaveLength(1)
    expect(await itemOf(closed.number)).toMatchObject({ state: 'out_of_scope', lastVerdict: 'skipped' })
    expect((await itemOf(other.number)).lastVerdict).toBe('queued')
  })

  it('and opened again is reviewed, in whatever order the code host tells of it', async () => {
    const again = await openPull()
    await tell('opened', { ...again, minute: 1 })
    await tell('reopened', { ...again, minute: 5 })
    await step()
    expect(await tell('closed', { ...again, minute: 4 })).toMatchObject({ cancelledTasks: [], cancelledRuns: [] })
    expect((await findReviews(again.number)).map(isCancelled)).toEqual([false])
  })
})

describe('a label that is taken off', () => {
  const asked = label('agent:review')

  it('ends the review that it asked for, and begins none', async () => {
    const { number, head } = await openPull()
    expect((await tell('labeled', { number, head, minute: 1, more: asked })).monitorRunsQueued).toBe(1)
    await step()
    const [review] = await findReviews(number)
    const answer = await tell('unlabeled', { number, head, minute: 2, more: asked })
    expect(answer.cancelledTasks).toEqual([`default/${review?.metadata.name}`])
    expect((await findReviews(number)).map(isCancelled)).toEqual([true])
    expect(await itemOf(number)).toMatchObject({ state: 'open', skipReason: 'review_task_cancelled' })
    expect(await queuedRuns()).toBe(0)
  })

  it('leaves reviews that something else asked for', async () => {
    const { number, head } = await openPull()
    await tell('opened', { number, head, minute: 1 })
    await step()
    await tell('labeled', { number, head, minute: 2, more: asked })
    const answer = await tell('unlabeled', { number, head, minute: 3, more: asked })
    expect(answer).toMatchObject({ cancelledTasks: [], cancelledRuns: [expect.any(String)] })
    expect((await findReviews(number)).map(isCancelled)).toEqual([false])
    expect((await itemOf(number)).lastVerdict).toBe('queued')
  })
})

describe('the command /svc stop', () => {
  it('ends reviews and runs that wait, of whatever asked for them', async () => {
    const { number, head } = await openPull()
    await tell('opened', { number, head, minute: 1 })
    await step()
    await tell('synchronize', { number, head: 'e'.repeat(40), minute: 2 })
    const about = {
      repository: repository(full),
      issue: issue(number, { pull_request: {} }),
      sender: { login: 'writer' },
    }
    const { payload, headers } = makeDelivery({ ...commentEvent('/svc stop', about), secret })
    const { delivery } = (await service.call('POST /webhooks/codehost', { token: null, payload, headers })).json()
    await service.usecases.deliveries.process(delivery)
    const stored = await service.ports.records.deliveries.get(delivery)
    const [review] = await findReviews(number)
    expect(stored?.outcome).toMatchObject({
      cancelledTasks: [`default/${review?.metadata.name}`],
      cancelledRuns: [expect.stringMatching(/^monrun-reviews-/)],
    })
    expect([review].map((task) => task && isCancelled(task))).toEqual([true])
    expect(await queuedRuns()).toBe(0)
  })
})
