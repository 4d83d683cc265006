// How much of an attempt's log is stored: from the position recorded with the Job, and the lines in the store.
import type { Logs } from '../../ports/tasks/logs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'

/** The line with this timestamp is the task's line `seq` in the store. */
export type LogPosition = { stamp: bigint; seq: number }

export function writePosition({ stamp, seq }: LogPosition): string {
  return `${stamp} ${seq}`
}

export function readPosition(text: string | undefined): LogPosition | undefined {
  const match = /^(\d{1,20}) (\d{1,15})$/.exec(text ?? '')
  return match === null ? undefined : { stamp: BigInt(match[1] ?? 0), seq: Number(match[2]) }
}

/** Tells what is already stored: called once for each line from the start of the log, when the line is complete. */
export type Stored = {
  covers(stamp: bigint): boolean
  /** Whether nothing from there on is stored. */
  endsBefore(stamp: bigint): boolean
}

/** The number of the task's last line in the store; 0 when there is none. */
export async function readLastSeq(logs: Logs, taskUid: string): Promise<number> {
  for await (const { seq } of logs.read(taskUid, { tailLines: 1 })) return seq
  return 0
}

/** The number of the last line of earlier attempts; the lines of this one follow. */
async function readBase(logs: Logs, key: AttemptKey): Promise<number> {
  if (key.attempt === 1) return 0
  let base = 0
  for await (const line of logs.read(key.taskUid, {})) {
    if (line.attempt >= key.attempt) break
    base = line.seq
  }
  return base
}

/** Lines are stored in the order of their ends. */
export async function countStored(logs: Logs, key: AttemptKey, position?: LogPosition): Promise<Stored> {
  const last = await readLastSeq(logs, key.taskUid)
  const base = position?.seq ?? (last === 0 ? 0 : await readBase(logs, key))
  let left = Math.max(0, last - base)
  return {
    covers(stamp) {
      if (position !== undefined && stamp <= position.stamp) return true
      if (left === 0) return false
      left -= 1
      return true
    },
    endsBefore: (stamp) => left === 0 && (position === undefined || stamp > position.stamp),
  }
}
