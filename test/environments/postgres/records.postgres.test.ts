// The suites of all record stores over a real PostgreSQL.
import { afterAll, beforeAll, describe } from 'vitest'
import { openPostgresBench, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { recordSuites } from '../../contracts/record-suites.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'

if (postgresMissing !== undefined) console.log(`records on PostgreSQL are skipped: ${postgresMissing}`)

describe.skipIf(postgresMissing !== undefined)('records on a real server [MODE-010]', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    await prepareTemplate(server)
  }, 60_000)
  afterAll(() => server.remove(), 60_000)

  for (const describeRecords of recordSuites) describeRecords('PostgreSQL', () => openPostgresBench(server))
})
