// What parked tasks wait for, in SQL: one row per task, of the newest attempt that parked.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { SvcError } from '../../errors.ts'
import type { Parkings } from '../../ports/tasks/parking.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type ParkingRow = { attempt: number; waits: string }

/** As `Parkings.park`. */
export async function writeWaits(tx: Tx, { taskUid, attempt }: AttemptKey, waits: readonly ParkWait[]): Promise<void> {
  const text = encodeText(JSON.stringify(waits))
  const { changes } = await tx.run(sql`insert into parkings (task_uid, attempt, waits)
    values (${taskUid}, ${attempt}, ${text})
    on conflict (task_uid) do update set attempt = excluded.attempt, waits = excluded.waits
    where parkings.attempt <= excluded.attempt`)
  if (changes === 0) throw new SvcError('Conflict', `a later attempt has parked: attempt ${attempt} is over`)
}

export function createParkings({ database }: { database: Database }): Parkings {
  return {
    park: (key, waits) => database.write((tx) => writeWaits(tx, key, waits)),
    async get({ taskUid, attempt }) {
      const row = await database.read.first(sql<ParkingRow>`select attempt, waits from parkings
        where task_uid = ${taskUid} and attempt = ${attempt}`)
      return row && (JSON.parse(decodeText(row.waits)) as ParkWait[])
    },
    async removeTask(taskUid) {
      await database.write((tx) => tx.run(sql`delete from parkings where task_uid = ${taskUid}`))
    },
  }
}
