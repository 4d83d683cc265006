// What is known of parked tasks beside what is stored. A service that starts asks and tells anew.
import type { AttemptKey } from '../../ports/tasks/workloads.ts'

export type Probed = AttemptKey & {
  asked: number
  /** When to ask again, in milliseconds since 1970. */
  nextAt: number
  /** Calls for which what they wait for has come. */
  arrived: Set<string>
}

/** By the key of the task: of its newest attempt that has parked. */
export type ProbedAttempts = Map<string, Probed>

/** What is known of exactly this attempt. */
export function findProbed(probed: ProbedAttempts, key: string, { taskUid, attempt }: AttemptKey): Probed | undefined {
  const known = probed.get(key)
  return known?.taskUid === taskUid && known.attempt === attempt ? known : undefined
}

type Told = { tries: number; nextAt: number; isDelivered: boolean }

/** What the receiver of callbacks was told of, by id of the approval. */
export type ToldApprovals = Map<string, Told>
