// What parked tasks wait for, stored before the attempt ends.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { AttemptKey } from './workloads.ts'

export interface Parkings {
  /**
   * Replaces what the task waits for. Repeating is harmless. Conflict, and no change, when a later attempt has parked.
   */
  park(key: AttemptKey, waits: readonly ParkWait[]): Promise<void>
  /** What the attempt waits for when it has ended; undefined when it has not parked. */
  get(key: AttemptKey): Promise<ParkWait[] | undefined>
  removeTask(taskUid: string): Promise<void>
}
