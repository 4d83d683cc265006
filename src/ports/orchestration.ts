// What an orchestrating model may do to the service, with the rights of whoever it works for.
import type { Agent, AgentSpec } from '../contract/resources/agent.ts'
import type { Task, TaskPhase } from '../contract/resources/task.ts'
import type { Tool } from '../contract/resources/tool.ts'

/** Without a namespace: the one the orchestrator works in. */
export type OrchestratedName = { name: string; namespace?: string | undefined }

/** A task as a tool asks for it; the spec has the contract's shape and is checked as any other. */
export type TaskRequest = { namespace?: string | undefined; spec: Record<string, unknown> }

/** Every method may throw Forbidden (rights, blocked namespaces), and InvalidRequest with every problem. */
export interface Orchestration {
  /** Makes a task under a name that nobody else gives. TooManyRequests when the orchestrator made its share. */
  createTask(request: TaskRequest): Promise<Task>
  /** NotFound, with the names that could be meant. */
  getTask(key: OrchestratedName): Promise<Task>
  /** The first `limit` characters of the newest result, and how long it is in bytes; undefined while there is none. */
  readOutput(key: OrchestratedName, limit: number): Promise<{ text: string; bytes: number } | undefined>
  /** The task once it has ended, or as it is when `timeoutMs` are over. NotFound. */
  waitForTask(key: OrchestratedName, timeoutMs: number, signal: AbortSignal): Promise<Task>
  /** Ends a task that runs, removes one that is scheduled; harmless when it has ended. NotFound. */
  cancelTask(key: OrchestratedName): Promise<Task>
  /** Newest first. */
  listTasks(query: { namespace?: string | undefined; phase?: TaskPhase | undefined; limit: number }): Promise<Task[]>
  listAgents(namespace: string | undefined): Promise<Agent[]>
  listTools(namespace: string | undefined): Promise<Tool[]>
  /** AlreadyExists. */
  createAgent(key: OrchestratedName, spec: Record<string, unknown>): Promise<Agent>
  /** NotFound. `change` gets the spec as it is. */
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
