// What parked tasks wait for: approvals of people, and probes of what is outside. Stored before the attempt ends.
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { ApprovalScope, ApprovalState } from '../../contract/api/tasks/approvals.ts'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { AttemptKey } from './workloads.ts'

export type ProbeAnswer = 'waiting' | 'arrived'

/**
 * Asks once, within 30 seconds. `args` come from a worker: the probe itself decides what this task may ask for. Answers
 * `arrived` also where asking again is of no use (what is waited for is gone, or forbidden), so that the tool can say so. A
 * rejection counts as `waiting`.
 */
export type Probe = (request: { task: Task; args: JsonObject }, signal: AbortSignal) => Promise<ProbeAnswer>

/** By the names that waits have for them. */
export type Probes = Readonly<Record<string, Probe>>

export type ApprovalDraft = {
  namespace: string
  task: { uid: string; name: string }
  agentName?: string | undefined
  /** The call that waits; one call asks once. */
  call: string
  /** The tool that would run, or `request_approval`. */
  tool: string
  arguments: Record<string, unknown>
  /** What is asked, for people. */
  message: string
  expiresAt: Date
}

export type Approval = Omit<ApprovalDraft, 'task' | 'expiresAt' | 'call'> & {
  /** `appr-<uuid>`. */
  id: string
  taskUid: string
  taskName: string
  /** `expired` once its time has passed without an answer. */
  status: ApprovalState
  createdAt: string
  expiresAt: string
  answeredAt?: string | undefined
  answeredBy?: CallerIdentity | undefined
  /** Why, as the person who answered said it. */
  reason?: string | undefined
  /** Of a host that was approved. */
  scope?: ApprovalScope | undefined
}

type ApprovalDecision = {
  status: 'approved' | 'declined'
  by: CallerIdentity
  reason?: string | undefined
  scope?: ApprovalScope | undefined
}

export type ApprovalQuery = {
  /** Absent: of all namespaces. */
  namespaces?: readonly string[] | undefined
  taskName?: string | undefined
  status?: ApprovalState | undefined
  limit: number
}

export interface Approvals {
  /** Stores what is asked; asking again for the same call of the same task gives what is there already. */
  ask(draft: ApprovalDraft): Promise<Approval>
  get(id: string): Promise<Approval | undefined>
  /** Newest first. */
  list(query: ApprovalQuery): Promise<Approval[]>
  /** How many wait for an answer, by namespace. */
  countPending(): Promise<Record<string, number>>
  /** One answer counts, on any replica. NotFound; Conflict, naming the state, when it has one or its time has passed. */
  answer(id: string, answer: ApprovalDecision): Promise<Approval>
  /**
   * Uses what was approved once, on any replica: false where that has happened already, or it is not so. The same call is then asked
   * anew.
   */
  use(id: string): Promise<boolean>
  removeTask(taskUid: string): Promise<void>
}

export interface Parkings {
  /**
   * Replaces what the task waits for. Repeating is harmless. Conflict, and no change, when a later attempt has parked.
   */
  park(key: AttemptKey, waits: readonly ParkWait[]): Promise<void>
  /** What the attempt waits for when it has ended; undefined when it has not parked. */
  get(key: AttemptKey): Promise<ParkWait[] | undefined>
  removeTask(taskUid: string): Promise<void>
}
