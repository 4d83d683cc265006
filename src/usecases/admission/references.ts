// Which Secrets and which objects of other namespaces a spec names: naming them needs the right to read them (SECRET-004).

import type { AccessKind } from '../../contract/access.ts'
import type { EnvVar, Workspace } from '../../contract/resources/execution.ts'
import type { Kind, SpecOf } from '../../contract/resources/index.ts'

export type Reference = { kind: AccessKind; name: string; namespace?: string }

type Named = { name: string; namespace?: string | undefined }

function to(kind: AccessKind, ...named: (Named | undefined)[]): Reference[] {
  return named.flatMap((entry) => {
    if (entry === undefined) return []
    return [{ kind, name: entry.name, ...(entry.namespace === undefined ? {} : { namespace: entry.namespace }) }]
  })
}

function ofEnvironment(env: readonly EnvVar[] | undefined): Reference[] {
  return to('Secret', ...(env ?? []).map((entry) => entry.valueFrom?.secretKeyRef))
}

function ofWorkspace(workspace: Workspace | undefined): Reference[] {
  return to('Secret', workspace?.gitSecretRef)
}

const finders: { [K in Kind]: (spec: SpecOf<K>) => Reference[] } = {
  Task: (spec) => [
    ...to('Secret', spec.secretRef),
    ...ofEnvironment(spec.env),
    ...ofWorkspace(spec.workspace),
    ...ofWorkspace(spec.agentRuntime?.workspace),
    ...to('Agent', spec.agentRef),
    ...to('Provider', spec.ai?.providerRef),
    ...to('Task', spec.priorTaskRef),
  ],
  Agent: (spec) => [
    ...to('Secret', spec.secretRef),
    ...to('Provider', spec.providerRef, ...(spec.model?.fallbacks ?? []).map((fallback) => fallback.providerRef)),
    ...to('Agent', ...(spec.coordination?.allowedAgents ?? [])),
  ],
  Provider: (spec) => [
    ...to('Secret', spec.secretRef),
    ...to('Provider', ...(spec.fallbacks ?? []).map((fallback) => fallback.providerRef)),
  ],
  Tool: (spec) => to('Secret', spec.http?.authSecretRef),
  Skill: () => [],
  RepositoryScan: (spec) => to('Agent', spec.analysisAgentRef),
  RepositoryMonitor: (spec) => to('Secret', spec.gitSecretRef),
}

/** Everything that the spec names and the caller must be allowed to read; without a namespace: the object's own. */
export function findReferences<K extends Kind>(kind: K, spec: SpecOf<K>): Reference[] {
  return (finders[kind] as (spec: SpecOf<K>) => Reference[])(spec)
}
