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
import type { AgentMessage } from '../../contract/api/tasks/task-records.ts'
import type { Agent, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import type { Task, TaskPhase } from '../../contract/kinds/tasks/task.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import type { Approval } from '../tasks/parking.ts'

/** A task; another task can have its name later. */
export type Correspondent = { uid: string; name: string }

type MessageDraft = {
  namespace: string
  from: Correspondent
  to: Correspondent | '*'
  parent: Correspondent
  content: string
}

/** The most messages that one task may send: those who talk without end fill no store. */
export const messagesOfTask = 1000

/** How many unread messages are answered at once. */
export const messagesAtOnce = 100

export interface Messages {
  send(message: MessageDraft): Promise<AgentMessage>
  /** How many messages the task has sent that are still kept. */
  countSent(taskUid: string): Promise<number>
  /**
   * Unread messages for the reader under the parent, oldest first, `messagesAtOnce` at most; never the reader's own, and never those for another
   * task of the same name. With `markRead`, marks them for this reader (MSG-010). Older messages without uids are
   * matched by name.
   */
  unread(query: {
    namespace: string
    reader: Correspondent
    parent: Correspondent
    markRead: boolean
    /** Only messages up to this id. */
    upTo?: number | undefined
  }): Promise<AgentMessage[]>
  /** What was sent below the coordinator, newest first; `before`: only with a smaller id. */
  sentBelow(
    parentUid: string,
    page: { limit: number; before?: number | undefined },
  ): Promise<Omit<AgentMessage, 'read'>[]>
  /** Removes what the task sent, received, or was the parent of, with the read marks. */
  removeTask(taskUid: string): Promise<void>
  /** Removes those sent before the time; returns how many. */
  sweep(before: Date): Promise<number>
}

/** Without a namespace: the orchestrator's own. */
export type OrchestratedName = { name: string; namespace?: string | undefined }

/** A task as a tool requests it; the spec has the contract's shape and is validated like any other. */
export type OrchestratedTask = {
  namespace?: string | undefined
  spec: Record<string, unknown>
  /** Annotations of the service's own. */
  notes?: Record<string, string>
  /** Step of the orchestrator's trace that makes it. */
  step?: string | undefined
}

/** The review of a repository's pull requests, again and again. */
export type PrMonitorRequest = {
  name: string
  repoUrl: string
  schedule: string
  agent: string
  namespace?: string | undefined
  provider?: string | undefined
  secret?: string | undefined
  /** How many pull requests are listed at once, 1..100. */
  perPage: number
  event: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES'
  prompt?: string | undefined
  step?: string | undefined
}

/** Every method may throw Forbidden (rights, blocked namespaces), or InvalidRequest listing every problem. */
export interface Orchestration {
  /** Creates a task under a unique name. TooManyRequests when the orchestrator has created its share. */
  createTask(request: OrchestratedTask): Promise<Task>
  /** A scheduled task. InvalidRequest names the field that is wrong. */
  createPrMonitor(request: PrMonitorRequest): Promise<Task>
  /** NotFound, with the names that might be meant. */
  getTask(key: OrchestratedName): Promise<Task>
  /** What the task asks people for, and nobody has answered yet. */
  listQuestions(task: Task): Promise<Approval[]>
  /** The first `limit` characters of the newest result, and its full length in bytes; undefined while there is none. */
  readOutput(key: OrchestratedName, limit: number): Promise<{ text: string; bytes: number } | undefined>
  /** The task once it has ended, or as it is after `timeoutMs`. NotFound. */
  waitForTask(key: OrchestratedName, timeoutMs: number, signal: AbortSignal): Promise<Task>
  /** Cancels a running task, removes a scheduled one; harmless when it has ended. NotFound. */
  cancelTask(key: OrchestratedName): Promise<Task>
  /** Newest first. */
  listTasks(query: { namespace?: string | undefined; phase?: TaskPhase | undefined; limit: number }): Promise<Task[]>
  listAgents(namespace: string | undefined): Promise<Agent[]>
  listTools(namespace: string | undefined): Promise<Tool[]>
  /** AlreadyExists. */
  createAgent(key: OrchestratedName, spec: Record<string, unknown>): Promise<Agent>
  /** NotFound. `change` receives the current spec. */
  updateAgent(key: OrchestratedName, change: (spec: AgentSpec) => Record<string, unknown>): Promise<Agent>
  /** NotFound. */
  deleteAgent(key: OrchestratedName): Promise<void>
  /** AlreadyExists; Conflict for the name of a built-in tool. */
  createTool(key: OrchestratedName, spec: Record<string, unknown>): Promise<Tool>
  /** NotFound. */
  deleteTool(key: OrchestratedName): Promise<void>
  /** The session and its transcript. NotFound; Conflict while it is in use. */
  deleteSession(key: OrchestratedName): Promise<void>
}

/**
 * `call` names one call of a whole run: with the same word a repeated call has the effect of one. `step`: which step of the
 * attempt's trace it is.
 */
export interface TaskCoordination {
  /** Forbidden, InvalidRequest, BudgetExceeded, each with what to do. */
  delegate(call: string, args: DelegateTask, step?: string): Promise<Delegated>
  runContainer(call: string, args: DelegateContainer, step?: string): Promise<Delegated>
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
