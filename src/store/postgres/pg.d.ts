// The part of pg (https://node-postgres.com) that this folder uses; the package ships no types of its own.
declare module 'pg' {
  import type { EventEmitter } from 'node:events'

  export type QueryResult = { rows: unknown[]; rowCount: number | null; command: string }
  export type QueryConfig = { text: string; values?: readonly unknown[]; name?: string }
  export type Notification = { channel: string; payload?: string; processId: number }

  export type ClientConfig = {
    connectionString?: string
    application_name?: string
    /** Milliseconds; the server ends the statement. */
    statement_timeout?: number
    /** Milliseconds; the client gives up waiting for the answer. */
    query_timeout?: number
    /** Milliseconds. */
    idle_in_transaction_session_timeout?: number
    connectionTimeoutMillis?: number
    keepAlive?: boolean
    types?: { getTypeParser(oid: number, format?: string): (value: string) => unknown }
  }

  export type PoolConfig = ClientConfig & { max?: number; idleTimeoutMillis?: number }

  export class Client extends EventEmitter {
    constructor(config: ClientConfig)
    connect(): Promise<void>
    query(query: QueryConfig): Promise<QueryResult>
    /** Several statements give one result each. */
    query(text: string): Promise<QueryResult | QueryResult[]>
    end(): Promise<void>
  }

  export interface PoolClient extends Client {
    /** True: the connection is closed instead of used again. */
    release(destroy?: boolean): void
  }

  export class Pool extends EventEmitter {
    constructor(config: PoolConfig)
    connect(): Promise<PoolClient>
    end(): Promise<void>
  }

  export const types: { getTypeParser(oid: number, format?: string): (value: string) => unknown }
  export function escapeLiteral(text: string): string
}
