// Bodies in pieces of rows, so that every replica has them and none is ever in memory as a whole. A body that is being
// written or read is locked by its id: other processes skip it when they remove what nobody needs.
import { Readable } from 'node:stream'
import { SvcError } from '../../errors.ts'
import type { Ids } from '../../lib/clock.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { type BodySink, storeBody } from '../blobs/receive-body.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import type { SharedLocks } from './session.ts'

const PIECE_BYTES = 256 * 1024
const SWEEP_BATCH = 500

export type PostgresBlobsOptions = { database: Database; locks: SharedLocks; ids: Ids }

/** The same bytes in pieces of `PIECE_BYTES`, the last one shorter. */
async function* regroup(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    let rest = chunk
    while (size + rest.length >= PIECE_BYTES) {
      yield Buffer.concat([...parts, rest.subarray(0, PIECE_BYTES - size)])
      rest = rest.subarray(PIECE_BYTES - size)
      parts = []
      size = 0
    }
    if (rest.length > 0) parts.push(rest)
    size += rest.length
  }
  if (size > 0) yield Buffer.concat(parts)
}

/**
 * Its pieces need no sync of their own: the commit of the row that refers to them makes everything before it durable.
 */
async function insertPiece(database: Database, id: string, piece: { number: number; bytes: Buffer }): Promise<void> {
  await database.write((tx) =>
    tx.run(sql`insert into blob_pieces (blob_id, number, bytes)
      select ${id}, cast(${piece.number} as integer), cast(${piece.bytes} as bytea)
      from (select set_config('synchronous_commit', 'off', true)) as commits`),
  )
}

async function writePieces(database: Database, id: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  await database.write((tx) => tx.run(sql`insert into blobs (id) values (${id})`))
  let number = 0
  for await (const bytes of regroup(chunks)) {
    await insertPiece(database, id, { number, bytes })
    number += 1
  }
  await database.write((tx) => tx.run(sql`update blobs set pieces = ${number} where id = ${id}`))
}

function describeReplaced(): SvcError {
  return new SvcError('Conflict', 'the data was replaced or removed while it was being read: read it again')
}

async function* readPieces(database: Database, id: string): AsyncGenerator<Buffer> {
  const blob = await database.read.first(sql<{ pieces: number | null }>`select pieces from blobs where id = ${id}`)
  if (blob?.pieces == null) throw describeReplaced()
  for (let number = 0; number < blob.pieces; number += 1) {
    const piece = await database.read.first(sql<{ bytes: Buffer }>`select bytes from blob_pieces
      where blob_id = ${id} and number = ${number}`)
    if (piece === undefined) throw describeReplaced()
    yield piece.bytes
  }
}

/** Removes it unless somebody holds it, or a row does refer to it (then the database refuses). */
async function removeIdle(database: Database, id: string): Promise<boolean> {
  const { changes } = await database.write((tx) =>
    tx.run(sql`delete from blobs where id = ${id} and pg_try_advisory_xact_lock(hashtextextended(id, 0))`),
  )
  return changes === 1
}

async function removeOrphans(database: Database, ids: string[], referenced: Set<string>): Promise<number> {
  let removed = 0
  for (const id of ids.filter((candidate) => !referenced.has(candidate))) {
    // A row may refer to it by now: then it stays.
    if (await removeIdle(database, id).catch(() => false)) removed += 1
  }
  return removed
}

export function createPostgresBlobs({ database, locks, ids }: PostgresBlobsOptions): Blobs {
  /** No longer needed, but in use here: removed when that ends. */
  const doomed = new Set<string>()

  async function release(id: string): Promise<void> {
    await locks.release(id)
    if (locks.isHeld(id) || !doomed.delete(id)) return
    // Its row is gone already: a body that cannot be removed now is an orphan, and swept later.
    await removeIdle(database, id).catch(() => false)
  }

  const sink: BodySink = {
    async write(id, chunks) {
      await locks.acquire(id)
      await writePieces(database, id, chunks)
    },
    // What cannot be removed now is an orphan, and swept later; the error that ended the body matters more here.
    discard: (id) =>
      database.write((tx) => tx.run(sql`delete from blobs where id = ${id}`)).then(undefined, () => undefined),
  }

  return {
    async store(body, limits, commit) {
      const id = ids.next()
      try {
        return await storeBody(sink, id, { body, limits, commit })
      } finally {
        if (locks.isHeld(id)) await release(id)
      }
    },
    open({ blob_id: id, content }) {
      if (id === null) return Readable.from(content === null ? [] : [Buffer.from(content)], { objectMode: false })
      const acquired = locks.acquire(id)
      const stream = Readable.from(readPieces(database, id), { objectMode: false })
      stream.once('close', () => void acquired.then(() => release(id)))
      return stream
    },
    async remove(blobIds) {
      const stored = blobIds.filter((id) => id !== null)
      for (const id of stored) if (locks.isHeld(id)) doomed.add(id)
      const idle = stored.filter((id) => !locks.isHeld(id))
      await Promise.allSettled(idle.map((id) => removeIdle(database, id)))
    },
    async sweepOrphans(findReferenced) {
      let removed = 0
      for (let after = '', size = SWEEP_BATCH; size === SWEEP_BATCH; ) {
        const rows = await database.read.all(sql<{ id: string }>`select id from blobs where id > ${after}
          order by id limit ${SWEEP_BATCH}`)
        const candidates = rows.map((row) => row.id)
        if (candidates.length > 0)
          removed += await removeOrphans(database, candidates, await findReferenced(candidates))
        after = candidates.at(-1) ?? ''
        size = candidates.length
      }
      return removed
    },
  }
}
