// Actors that run the MCP servers of Tools.
import type { ResourceKey } from '../resources/resources.ts'

/** `name` is a DNS label made by a rule; `namespace` is that of the Tool. */
export type ToolActor = ResourceKey & {
  template: ResourceKey
  pool?: ResourceKey
  /** Started from scratch when it is first resumed. */
  boot: boolean
}

/** Where an actor answers: requests go to `router` (an origin), with `host` as their host. */
export type ActorPlace = { router: string; host: string }

/** Every method but `place` may reject with WorkspaceError, whose message is for the owner of the Tool. */
export interface ToolActors {
  /** Namespace of templates whose namespace a Tool does not name; absent: that of the Tool. */
  readonly templateNamespace: string | undefined
  /** Tells the actors of this installation of the service from those of others. */
  readonly installation: string
  /** Whether templates and pools of other namespaces are for nobody. */
  readonly isolated: boolean
  place(actor: ResourceKey): ActorPlace
  /** Why the actor's pool does not fit; undefined when nothing is against it, or the pool does not exist yet. */
  findPoolProblem(actor: ToolActor): Promise<string | undefined>
  /** Makes it unless it exists, and resumes it unless it runs. Rejects while no worker is free. */
  ensure(actor: ToolActor, signal: AbortSignal): Promise<void>
  /** Idempotent. */
  remove(actor: ResourceKey): Promise<void>
}
