// PostgreSQL goes away in the middle of a coordination run: nothing is lost, and it goes on by itself.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../../src/lib/system-clock.ts'
import type { PostgresDatabase } from '../../../src/store/postgres/database.ts'
import { createPostgresRecords } from '../../../src/store/postgres/records.ts'
import { makeDatabase, openReplica, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { type Bench, openBench } from '../../controllers/bench.ts'
import { type FamilyPlayer, playFamily } from '../../controllers/family-player.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'
import { waitFor } from '../../fixtures/time.ts'

describe.skipIf(postgresMissing !== undefined)('a coordination run while PostgreSQL is away', () => {
  let server: PostgresServer
  let database: PostgresDatabase
  let bench: Bench
  let player: FamilyPlayer
  beforeAll(async () => {
    server = await startPostgres()
    await prepareTemplate(server)
  }, 60_000)
  afterAll(() => server.remove(), 60_000)
  beforeEach(async () => {
    database = await openReplica(server, makeDatabase(server))
    bench = await openBench({ records: createPostgresRecords({ database, clock, ids }) })
    await bench.create('Provider', 'default', { type: 'demo' })
    await bench.create('Agent', 'leaf', {})
    await bench.create('Agent', 'lead', { coordination: { enabled: true, allowedAgents: [{ name: 'leaf' }] } })
  })
  afterEach(async () => {
    await player.stop()
    await bench.dispose()
    await database.close()
  })

  it('goes on once it is back after a minute, with the results of all children', async () => {
    player = playFamily(bench, (agent) => (agent === 'lead' ? { agent: 'leaf', children: 4 } : undefined))
    player.hold()
    await bench.submitTask('lead', { type: 'ai', command: undefined, prompt: 'lead', agentRef: { name: 'lead' } })
    await waitFor(() => player.held() === 4, 'four children at work')
    const isParked = ({ status }: { status?: { conditions?: { type: string; status: string }[] } | undefined }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Parked' && is === 'True') === true
    await bench.taskWhen('lead', isParked, 'is parked')
    await server.stop('immediate')
    player.release()
    await waitFor(() => player.repeated() >= 4, 'each child to be told to come again')
    await bench.jump(60_000)
    expect(await bench.getTask('lead').then((task) => task?.status?.phase)).toBe('Running')
    await server.start()
    await bench.jump(60_000)
    const lead = await waitFor(async () => {
      // Time goes on for whoever waits to look again.
      await bench.jump(5_000)
      const task = await bench.getTask('lead')
      return task?.status?.completionTime === undefined ? undefined : task
    }, 'lead to end')
    expect(lead.status).toMatchObject({ phase: 'Succeeded', parkings: 1 })
    expect(await bench.readResult('lead')).toBe(Array.from({ length: 4 }, () => 'Succeeded done').join('|'))
    const events = await bench.eventsOf('lead')
    expect(events.filter(({ type }) => type === 'Parked')).toHaveLength(1)
  })
})
