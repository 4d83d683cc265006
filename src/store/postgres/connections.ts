// Creates connections: the limits of each, the pool for normal work, and a separate one for steps that take long.
import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg'
import { describeStart } from './errors.ts'

const INT8 = 20
const NUMERIC = 1700

export type ConnectionOptions = {
  /** `postgres://user:password@host:5432/name`, with `sslmode` and other options as in libpq. */
  url: string
  /** The most connections; one more listens. */
  poolSize?: number
  /** How long a unit waits for a connection, free or new, in milliseconds. */
  connectTimeoutMs?: number
  /** The longest run of one statement, waiting for locks included, in milliseconds. */
  statementTimeoutMs?: number
  /** Called with errors that nobody waits for, such as the loss of an idle connection. */
  report?: (error: unknown) => void
}

/** Counts and sums are far below 2^53: plain numbers. */
function getTypeParser(oid: number, format?: string): (value: string) => unknown {
  return oid === INT8 || oid === NUMERIC ? Number : types.getTypeParser(oid, format)
}

function describeConnection(options: ConnectionOptions): ClientConfig {
  return {
    connectionString: options.url,
    application_name: 'svc',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    keepAlive: true,
    types: { getTypeParser },
  }
}

/** Ends what an unresponsive peer would keep waiting forever, on the server and here. */
function describeLimits({ statementTimeoutMs = 10_000 }: ConnectionOptions): ClientConfig {
  return {
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 2_000,
    idle_in_transaction_session_timeout: statementTimeoutMs + 2_000,
  }
}

export function createPool(options: ConnectionOptions): Pool {
  const config = { ...describeConnection(options), ...describeLimits(options) }
  const pool = new Pool({ ...config, max: options.poolSize ?? 10, idleTimeoutMillis: 60_000 })
  // The user of a lost connection is told; without a listener here the process would end.
  pool.on('connect', (client: PoolClient) => void client.on('error', () => undefined))
  pool.on('error', (error: unknown) => options.report?.(error))
  return pool
}

/** A connection with the limits of the pool, not yet open. */
export function createClient(options: ConnectionOptions): Client {
  return new Client({ ...describeConnection(options), ...describeLimits(options) })
}

/** Runs the work on a separate connection, without a time limit. Unavailable when there is none. */
export async function useClient<T>(options: ConnectionOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(describeConnection(options))
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw describeStart(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}
