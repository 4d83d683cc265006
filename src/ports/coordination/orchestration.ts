// What an orchestrating model may do to the service, with the rights of the caller it works for.
import type { Agent, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import type { Task, TaskPhase } from '../../contract/kinds/tasks/task.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import type { Approval } from '../tasks/approvals.ts'

/** Without a namespace: the orchestrator's own. */
export type OrchestratedName = { name: string; namespace?: string | undefined }

/** A task as a tool requests it; the spec has the contract's shape and is validated like any other. */
export type TaskRequest = {
  namespace?: string | undefined
  spec: Record<string, unknown>
  /** Annotations of the service's own. */
  notes?: Record<string, string>
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
}

/** Every method may throw Forbidden (rights, blocked namespaces), or InvalidRequest listing every problem. */
export interface Orchestration {
  /** Creates a task under a unique name. TooManyRequests when the orchestrator has created its share. */
  createTask(request: TaskRequest): Promise<Task>
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
