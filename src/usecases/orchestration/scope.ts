// For whom an orchestrator works, and how far it may go.
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity.ts'
import type { OrchestratedName } from '../../ports/orchestration.ts'
import type { ResourceKey } from '../../ports/resources.ts'

export type OrchestrationScope = {
  caller: Caller
  /** Where names without a namespace are. */
  namespace: string
  /** Namespaces of the service and of the cluster, where no orchestrator has any business. */
  blockedNamespaces: readonly string[]
  /** On everything that is made. */
  labels: Record<string, string>
  /** A new name that nobody else gives, over turns and replicas. */
  nameTask(): string
  maxTasks: number
}

/** Forbidden in the namespaces of the service itself. */
export function requireOpenNamespace(namespace: string, blocked: readonly string[]): void {
  if (blocked.includes(namespace)) throw new SvcError('Forbidden', `namespace "${namespace}" is not allowed for chat`)
}

/** Where a named thing is. Forbidden in a blocked namespace. */
export function locate(scope: OrchestrationScope, { name, namespace }: OrchestratedName): ResourceKey {
  return { name, namespace: locateNamespace(scope, namespace) }
}

export function locateNamespace(scope: OrchestrationScope, named: string | undefined): string {
  const namespace = named ?? scope.namespace
  requireOpenNamespace(namespace, scope.blockedNamespaces)
  return namespace
}
