// Idempotency keys in SQL: each claim is one conditional statement, so that only one of two requests gets the key.
import type { IdempotencyClaim, IdempotencyKeys, IdempotentOutcome } from '../../ports/resources/records.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'

type KeyRow = { body_hash: string; state: 'running' | 'settled'; outcome: string | null }
type ClaimRequest = { key: string; bodyHash: string; now: number; expiresAt: number; staleBefore: number }

async function takeKey(tx: Tx, request: ClaimRequest): Promise<boolean> {
  const { key, bodyHash, now, expiresAt, staleBefore } = request
  const inserted = await tx.run(sql`insert into idempotency_keys (key, body_hash, state, claimed_at, expires_at)
    values (${key}, ${bodyHash}, 'running', ${now}, ${expiresAt}) on conflict (key) do nothing`)
  if (inserted.changes === 1) return true
  const taken = await tx.run(sql`update idempotency_keys
    set body_hash = ${bodyHash}, state = 'running', outcome = null, claimed_at = ${now}, expires_at = ${expiresAt}
    where key = ${key} and (expires_at <= ${now}
      or (state = 'running' and body_hash = ${bodyHash} and claimed_at <= ${staleBefore}))`)
  return taken.changes === 1
}

async function claimKey(tx: Tx, request: ClaimRequest): Promise<IdempotencyClaim> {
  if (await takeKey(tx, request)) return { state: 'claimed' }
  const row = await tx.first(sql<KeyRow>`select body_hash, state, outcome from idempotency_keys
    where key = ${request.key}`)
  // Another replica released it between the two statements; the next attempt gets it.
  if (row === undefined) return { state: 'running' }
  if (row.body_hash !== request.bodyHash) return { state: 'mismatch' }
  if (row.outcome === null) return { state: 'running' }
  return { state: 'settled', outcome: JSON.parse(row.outcome) as IdempotentOutcome }
}

export function createIdempotencyKeys(deps: { database: Database }): IdempotencyKeys {
  const { database } = deps
  return {
    claim(key, bodyHash, { now, ttlMs, staleMs }) {
      const time = now.getTime()
      const request = { key, bodyHash, now: time, expiresAt: time + ttlMs, staleBefore: time - staleMs }
      return database.write((tx) => claimKey(tx, request))
    },

    async settle(key, { status, kind, namespace, name, uid }) {
      const outcome = JSON.stringify({ status, kind, namespace, name, uid })
      await database.write((tx) =>
        tx.run(sql`update idempotency_keys set state = 'settled', outcome = ${outcome}
          where key = ${key} and state = 'running'`),
      )
    },

    async release(key) {
      await database.write((tx) => tx.run(sql`delete from idempotency_keys where key = ${key} and state = 'running'`))
    },

    async sweep(before) {
      const { changes } = await database.write((tx) =>
        tx.run(sql`delete from idempotency_keys where expires_at < ${before.getTime()}`),
      )
      return changes
    },
  }
}
