// What attempts hand in with their ends, in SQL: one transaction, whatever there is of it.
import { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import type { AttemptEnds } from '../../ports/tasks/outputs.ts'
import type { Blobs, StoredBlob } from '../blobs/blobs.ts'
import { insertUsage } from '../budgets/usage.ts'
import type { Database } from '../database/database.ts'
import { writeWaits } from './parkings.ts'
import { resultLimits, writeResult } from './results.ts'
import { writeSteps } from './steps.ts'

const contentType = 'text/plain; charset=utf-8'

export function createAttemptEnds(deps: { database: Database; blobs: Blobs; clock: Clock }): AttemptEnds {
  const { database, blobs, clock } = deps
  type End = Parameters<AttemptEnds['store']>[0]

  function write({ taskUid, attempt, usage, waits, steps = [] }: End, blob?: StoredBlob): Promise<string | null> {
    const createdAt = clock.now().toISOString()
    return database.write(async (tx) => {
      for (const record of usage) await insertUsage(tx, record)
      if (waits !== undefined) await writeWaits(tx, { taskUid, attempt }, waits)
      await writeSteps(tx, { taskUid, attempt }, steps)
      return blob === undefined
        ? null
        : await writeResult(tx, { taskUid, attempt, size: blob.size, contentType, createdAt }, blob)
    })
  }

  return {
    async store(end) {
      if (end.result === undefined) return void (await write(end))
      const body = Readable.from([Buffer.from(end.result)])
      const replaced = await blobs.store(body, resultLimits, (blob) => write(end, blob))
      await blobs.remove([replaced])
    },
  }
}
