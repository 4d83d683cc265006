// Two replicas on one PostgreSQL that receive deliveries of the code host, and look after monitors, at the same time.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCodeHosts } from '../../../src/codehost/code-hosts.ts'
import { RepositoryMonitorSpec } from '../../../src/contract/kinds/monitors/repository-monitor.ts'
import type { Controller } from '../../../src/controllers/engine/controller.ts'
import { createMonitorController } from '../../../src/controllers/monitors/controller.ts'
import { createEgress } from '../../../src/egress/egress.ts'
import { systemIds as ids, systemClock } from '../../../src/lib/system-clock.ts'
import type { Ports } from '../../../src/ports/index.ts'
import { createPostgresRecords } from '../../../src/store/postgres/records.ts'
import { createResources } from '../../../src/store/resources/resources.ts'
import { createBudgetLedger, createUsecases, type DeliveryUsecases } from '../../../src/usecases/index.ts'
import { makeDatabase, openReplica, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { label, makeDelivery, makeSecret, pull, pullEvent, repository } from '../../fixtures/codehost/deliveries.ts'
import { type CodeHostServer, startCodeHost } from '../../fixtures/codehost/server.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'
import { openMigrated } from '../../fixtures/sqlite.ts'
import { waitFor } from '../../fixtures/time.ts'

const full = 'acme/site'
const namespace = 'default'
const secret = makeSecret()
const idempotencyKey = randomBytes(32)
let aheadMs = 0
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) }
type Replica = { deliveries: DeliveryUsecases; controller: Controller; ports: Ports; close(): Promise<void> }

describe.skipIf(postgresMissing !== undefined)('two replicas that hear of the code host', () => {
  let server: PostgresServer
  let host: CodeHostServer
  beforeAll(async () => {
    server = await startPostgres()
    host = await startCodeHost({ repositories: [full] })
    await prepareTemplate(server)
  }, 60_000)
  afterAll(async () => {
    await host.close()
    await server.remove()
  }, 60_000)

  let folder: string
  let closeShared: () => Promise<void>
  let replicas: [Replica, Replica]
  const egress = createEgress()

  /** Objects are in one place that all replicas share, as in a cluster. */
  async function openShared() {
    folder = await mkdtemp(join(tmpdir(), 'svc-replicas-'))
    const database = await openMigrated(join(folder, 'svc.db'))
    const resources = await createResources(database, { clock, ids })
    closeShared = async () => {
      await resources.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    }
    const meta = { namespace, name: 'reviewer' }
    const runtime = { type: 'llma-cli' }
    await resources.create('Agent', { metadata: meta, spec: { runtime, secretRef: { name: 'vendor' } } as never })
    return resources
  }

  const values: Record<string, Record<string, string>> = { vendor: { VENDOR_API_KEY: 'made-up' } }
  const secrets = { read: async ({ name }: { name: string }) => values[name], describe: async () => undefined }

  async function openOne(name: string, resources: Ports['resources']): Promise<Replica> {
    const database = await openReplica(server, name)
    const records = createPostgresRecords({ database, clock, ids })
    const codeHosts = createCodeHosts({
      hosts: ['github.com'],
      apiUrls: { 'github.com': host.url },
      egress,
      policy: { allowNetworks: [], deny: [] },
      now: Date.now,
      pause: async () => {},
    })
    const ports = { resources, records, secrets, codeHosts, egress, clock, ids } as unknown as Ports
    const webhook = { secret, agent: 'reviewer' }
    const settings = { allowDemoProvider: false, ownAddresses: () => [], allowNetworks: [], idempotencyKey, webhook }
    const builtinTools = { names: [], list: async () => [] }
    const { deliveries } = createUsecases({ ports, settings, builtinTools, ledger: createBudgetLedger(ports) })
    return {
      ports,
      deliveries,
      controller: createMonitorController({
        ...ports,
        log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as never,
        settings: { isolateNamespaces: false, markerKeys: [randomBytes(32)] },
      }),
      close: () => database.close(),
    }
  }

  beforeEach(async () => {
    const name = makeDatabase(server)
    const resources = await openShared()
    values.git = { token: host.tokenOf('writer') }
    replicas = [await openOne(name, resources), await openOne(name, resources)]
  })
  afterEach(async () => {
    for (const replica of replicas) await replica.close()
    await closeShared()
  })
  afterAll(() => egress.close())

  async function addMonitor(more: object = {}) {
    const spec = RepositoryMonitorSpec.parse({
      repoURL: `https://github.com/${full}`,
      branch: 'main',
      agents: { reviewer: { name: 'reviewer' } },
      gitSecretRef: { name: 'git' },
      review: { exactEventEnabled: true },
      ...more,
    })
    const { resources } = replicas[0].ports
    const { metadata } = await resources.create('RepositoryMonitor', { metadata: { namespace, name: 'reviews' }, spec })
    return { uid: metadata.uid, namespace, name: 'reviews' }
  }

  type Told = { number: number; head: string; id?: string; more?: object }

  async function tell({ deliveries }: Replica, action: string, { number, head, id, more = {} }: Told) {
    const sides = { head: { ref: 'topic', sha: head, repo: repository(full) } }
    const base = { ref: 'main', sha: head, repo: repository(full) }
    const about = { repository: repository(full), pull_request: pull(number, { ...sides, base }), ...more }
    const sent = makeDelivery({ ...pullEvent(action, about), secret, ...(id && { id }) })
    await deliveries.receive({
      event: 'pull_request',
      delivery: sent.id,
      signature: sent.headers['x-hub-signature-256'],
      contentType: 'application/json',
      body: Buffer.from(sent.payload),
    })
    return sent.id
  }

  const settle = (told: readonly string[]) =>
    waitFor(async () => {
      const found = await Promise.all(told.map((id) => replicas[0].ports.records.deliveries.get(id)))
      return found.every((one) => one !== undefined && one.state !== 'pending')
    }, 'the deliveries to be worked off')

  it('queue one run for one head, and one task for one delivery, whichever of them hears of it [MON-019] [HOOK-007]', async () => {
    const monitor = await addMonitor()
    const [one, other] = replicas
    for (let number = 1; number <= 8; number += 1) {
      const head = String(number).repeat(40)
      const asked = { number, head, id: `label-${number}`, more: label('agent:explain') }
      const told = await Promise.all([
        ...replicas.map((replica) => tell(replica, 'opened', { number, head, id: `same-${number}` })),
        tell(one, 'synchronize', { number, head }),
        tell(other, 'ready_for_review', { number, head }),
        ...replicas.map((replica) => tell(replica, 'labeled', asked)),
      ])
      await settle(told)
    }
    const runs = await other.ports.records.monitors.listRuns(monitor, { limit: 100 })
    expect(runs.map(({ targetNumber }) => targetNumber).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    const { items } = await one.ports.resources.list('Task', { namespace })
    expect(items).toHaveLength(8)
  })

  it('run one schedule once, and review each head once, although both look at the same time', async () => {
    const monitor = await addMonitor({ schedule: '* * * * *' })
    const pulls = [await host.openPull(full), await host.openPull(full), await host.openPull(full)]
    const { resources, records } = replicas[0].ports
    const look = () => {
      const { signal } = new AbortController()
      return Promise.allSettled(replicas.map(({ controller }) => controller.reconcile('default/reviews', signal)))
    }
    for (let tick = 1; tick <= 3; tick += 1) {
      aheadMs += 60_000
      const told = pulls.map(({ number, head }) => ({ number, head, id: `tick-${tick}-${number}` }))
      await Promise.all([
        look(),
        ...told.flatMap((one) => replicas.map((replica) => tell(replica, 'synchronize', one))),
      ])
      await settle(told.map(({ id }) => id))
      for (let round = 0; round < 3; round += 1) await look()
    }
    const runs = await records.monitors.listRuns(monitor, { limit: 100 })
    const scheduled = runs.filter(({ trigger }) => trigger === 'schedule')
    expect(scheduled.length).toBeGreaterThan(0)
    expect(scheduled.length).toBeLessThanOrEqual(3)
    expect(runs.every(({ phase }) => phase === 'succeeded')).toBe(true)
    const { items } = await resources.list('Task', { namespace })
    const heads = items.map(({ spec }) => spec.workspace?.ref).toSorted()
    expect(heads).toEqual(pulls.map(({ head }) => head).toSorted())
  })
})
