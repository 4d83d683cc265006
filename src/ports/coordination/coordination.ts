// What a coordinating model may do: make tasks and agents below its own task, wait for them, and talk to its family.
import type {
  ApprovalAnswerSeen,
  AskApproval,
  CancelChild,
  CreateHelper,
  DelegateContainer,
  Delegated,
  DelegateTask,
  DeleteHelper,
  SendToSibling,
  WaitAnswer,
  WaitForTasks,
} from '../../contract/api/coordination/coordination.ts'

/** `call` names one call of a whole run: with the same word a repeated call has the effect of one. */
export interface Coordination {
  /** Forbidden, InvalidRequest, BudgetExceeded, each with what to do. */
  delegate(call: string, args: DelegateTask): Promise<Delegated>
  runContainer(call: string, args: DelegateContainer): Promise<Delegated>
  /** Answers at once. `until`: when the wait of this call ends, as an earlier answer said. */
  waitFor(call: string, args: WaitForTasks, until: string | undefined): Promise<WaitAnswer>
  /** NotFound for a task that is no child. */
  cancel(args: CancelChild): Promise<Delegated>
  /** Forbidden for more than the coordinator has itself. */
  createAgent(args: CreateHelper): Promise<{ name: string; status: string }>
  /** NotFound for an agent that it did not make. */
  deleteAgent(args: DeleteHelper): Promise<{ name: string; status: string }>
  /** Asks a person, once for each call; answers at once. */
  askApproval(call: string, args: AskApproval): Promise<ApprovalAnswerSeen>
  /** NotFound for a task outside the family. */
  send(args: SendToSibling): Promise<void>
  /** Unread messages, oldest first. */
  readMessages(query: { markRead: boolean; upTo?: number }): Promise<FamilyMessage[]>
}

export type FamilyMessage = { id: number; fromTask: string; toTask: string; content: string; createdAt: string }
