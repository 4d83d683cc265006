// Isolated namespaces: a resource may refer only to others in its own namespace.
import { type Kind, kinds, type SpecOf } from '../../contract/kinds/index.ts'
import { noWorkspaces, type WorkspaceDefaults } from '../../contract/kinds/tasks/task-problems.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import { findReferences } from '../../contract/schema/reference-paths.ts'
import type { Problem } from '../../errors.ts'

/** The first reference of a spec into another namespace, as a sentence; undefined when there is none. */
export function findForeignReference<K extends Kind>(kind: K, namespace: string, spec: SpecOf<K>): string | undefined {
  const foreign = findReferences(kind, spec).find((found) => (found.namespace ?? namespace) !== namespace)
  if (foreign === undefined) return undefined
  const whose = `${kinds[kind].plural} of "${namespace}"`
  return `${foreign.field} names namespace "${foreign.namespace}", but ${whose} may only use their own`
}

/** A template or pool of another namespace that a spec names, and that the service itself is not set to. */
export type ForeignNamespace = {
  /** Relative to the spec. */
  path: string
  namespace: string
  /** Why nobody can use it from there. */
  obstacle?: string
}

type Named = { namespace?: string | undefined } | undefined

function listForeign(path: string, named: Named, usual: (string | undefined)[]): ForeignNamespace[] {
  const { namespace } = named ?? {}
  return namespace === undefined || usual.includes(namespace) ? [] : [{ path: `${path}.namespace`, namespace }]
}

/** What the execution workspace of a task is made from. */
export function listForeignWorkspaces(
  namespace: string,
  spec: SpecOf<'Task'>,
  workspaces: WorkspaceDefaults = noWorkspaces,
): ForeignNamespace[] {
  const path = 'execution.workspace'
  const requested = spec.execution?.workspace
  if (requested === undefined) return []
  const provider = requested.provider ?? workspaces.defaultProvider
  const usual = workspaces.providers[provider]?.templateNamespace
  const pools = listForeign(`${path}.poolRef`, requested.poolRef, [namespace])
  if (provider === 'actor') {
    return [...listForeign(`${path}.templateRef`, requested.templateRef, [namespace, usual]), ...pools]
  }
  const home = usual ?? namespace
  const obstacle = `names a namespace in which sandboxes cannot be claimed: use a template of "${home}"`
  return listForeign(`${path}.templateRef`, requested.templateRef, [home]).map((reference) => ({
    ...reference,
    obstacle,
  }))
}

/** What the actor of a tool is made from. `usual`: where templates are that the service is set to. */
export function listForeignActors(namespace: string, { mcp }: SpecOf<'Tool'>, usual?: string): ForeignNamespace[] {
  const { templateRef, poolRef } = mcp?.actor ?? {}
  return [
    ...listForeign('mcp.actor.templateRef', templateRef, [namespace, usual]),
    ...listForeign('mcp.actor.poolRef', poolRef, [namespace]),
  ]
}

/** Those that a resource may not name, and why. */
export function findNamespaceProblems(
  home: { kind: Kind; namespace: string },
  references: readonly ForeignNamespace[],
  isolated: boolean,
): Problem[] {
  const whose = `${kinds[home.kind].plural} of "${home.namespace}"`
  return references.flatMap(({ path, namespace, obstacle }) => {
    const message = isolated ? `names namespace "${namespace}", but ${whose} may only use their own` : obstacle
    return message === undefined ? [] : [{ path, message }]
  })
}

/** Why a Tool may not use the actor that it names, as things are now; undefined when it may, or names none. */
export function findActorObstacle(
  { metadata: { namespace }, spec }: Pick<Tool, 'metadata' | 'spec'>,
  { templateNamespace, isolated }: { readonly templateNamespace: string | undefined; readonly isolated: boolean },
): string | undefined {
  const references = listForeignActors(namespace, spec, templateNamespace)
  const [first] = findNamespaceProblems({ kind: 'Tool', namespace }, references, isolated)
  return first && `${first.path} ${first.message}`
}
