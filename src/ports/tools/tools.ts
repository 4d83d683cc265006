// Where tools come from: the lists of MCP servers, and the actors that run them.
import type { McpServer } from '../../contract/api/tools/assigned-tool.ts'
import type { LeftOutTool, OfferedTool } from '../../contract/kinds/tools/tool-http.ts'
import type { ResourceKey } from '../resources/resources.ts'

export type OfferedTools = { tools: OfferedTool[]; leftOut: LeftOutTool[] }

/**
 * Asks the server for its tools, with its credential, which no part of the answer shows. Rejects with SvcError:
 * Forbidden when the address is refused, UpstreamFailed when the server cannot be reached or does not speak the protocol.
 */
export type ListMcpTools = (server: McpServer, signal: AbortSignal) => Promise<OfferedTools>

/** `name` is a DNS label made by a rule; `namespace` is that of the Tool. */
export type ToolActorSpec = ResourceKey & {
  template: ResourceKey
  pool?: ResourceKey
  /** Started from scratch when it is first resumed. */
  boot: boolean
}

/** Where an actor answers: requests go to `router` (an origin), with `host` as their host. */
export type ActorAddress = { router: string; host: string }

/** Every method but `addressOf` may reject with WorkspaceError, whose message is for the owner of the Tool. */
export interface ToolActors {
  /** Namespace of templates whose namespace a Tool does not name; absent: that of the Tool. */
  readonly templateNamespace: string | undefined
  /** Tells the actors of this installation of the service from those of others. */
  readonly installation: string
  /** Whether templates and pools of other namespaces are for nobody. */
  readonly isolated: boolean
  addressOf(actor: ResourceKey): ActorAddress
  /** Why the actor's pool does not fit; undefined when nothing is against it, or the pool does not exist yet. */
  findPoolProblem(actor: ToolActorSpec): Promise<string | undefined>
  /** Makes it unless it exists, and resumes it unless it runs. Rejects while no worker is free. */
  ensure(actor: ToolActorSpec, signal: AbortSignal): Promise<void>
  /** Idempotent. */
  remove(actor: ResourceKey): Promise<void>
}
