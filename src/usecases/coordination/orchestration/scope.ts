// Who an orchestrator works for, and how far it may go.
import { SvcError } from '../../../errors.ts'
import type { OrchestratedName } from '../../../ports/coordination/coordination.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import type { TraceOrigin } from '../../../rules/tasks/trace-context.ts'

export type OrchestrationScope = {
  caller: Caller
  /** The namespace of names that come without one. */
  namespace: string
  /** Namespaces of the service and of the cluster, closed to every orchestrator. */
  blockedNamespaces: readonly string[]
  /** Labels for everything it creates. */
  labels: Record<string, string>
  /** Returns a new name, unique across turns and replicas. */
  nameTask(): string
  maxTasks: number
  /** From which the ids of its trace follow, which what it creates belongs to. */
  trace?: TraceOrigin | undefined
}

/** Forbidden in the namespaces of the service itself. */
export function requireOpenNamespace(namespace: string, blocked: readonly string[]): void {
  if (blocked.includes(namespace)) throw new SvcError('Forbidden', `namespace "${namespace}" is not allowed for chat`)
}

/** The namespace of a named object. Forbidden when it is blocked. */
export function locate(scope: OrchestrationScope, { name, namespace }: OrchestratedName): ResourceKey {
  return { name, namespace: locateNamespace(scope, namespace) }
}

export function locateNamespace(scope: OrchestrationScope, named: string | undefined): string {
  const namespace = named ?? scope.namespace
  requireOpenNamespace(namespace, scope.blockedNamespaces)
  return namespace
}
