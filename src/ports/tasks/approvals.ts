// What tasks have asked people for, and who answered. They are kept until their task is deleted.

import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import type { ApprovalState } from '../../contract/api/tasks/approvals.ts'

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
}

export type ApprovalAnswer = { status: 'approved' | 'declined'; by: CallerIdentity; reason?: string | undefined }

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
  answer(id: string, answer: ApprovalAnswer): Promise<Approval>
  removeTask(taskUid: string): Promise<void>
}
