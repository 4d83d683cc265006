// Which objects of a cluster are parts of unfinished tasks that have Secrets of other namespaces, and which config maps are of
// any that have Secrets. Admission policies, which see one object alone, read it as texts: `<namespace>.<kinds>` has a line
// `<name> <namespace of Secrets>` for each, or `*` as the name.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { kinds } from '../../contract/kinds/index.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { fallbacksOf, isAmong, listSecretsInside, type Part, partsOfTasks } from './acting.ts'

/**
 * The object of a cluster that has the texts, in the namespace of the service. Not a config map: an API server stops reading
 * kinds of its own for policies once no policy does (kubernetes/kubernetes#130887). Its group is no other's, so that who may
 * write all of the service's kinds may not write this one.
 */
export const usedElsewhere = {
  group: 'policies.svc.ai',
  version: 'v1alpha1',
  kind: 'UsedElsewhere',
  plural: 'usedelsewhere',
  name: 'svc-used-elsewhere',
} as const

/** Kinds of the service: whoever writes one needs the right to all Secrets of its namespace anyway. */
export const guardedParts = ['Agent', 'Skill', 'Provider', 'Tool'] as const

/** The cluster's own kind, of which nobody is asked that: those of the namespace of the Secrets are noted as well. */
export const guardedTexts = 'configmaps'

/** Any object of the namespace. */
const anyPart = '*'

/** More different names than these are written as any, so that the texts stay small. */
const maxNames = 100

type Use = { entry: string; name: string; space: string }

/** As the texts are written in the cluster. */
export type UseTexts = Record<string, string>

function listParts(
  kind: (typeof guardedParts)[number],
  [task, agent]: [Task, Agent | undefined],
  providers: readonly Provider[],
): Part[] {
  const parts = partsOfTasks[kind](task, agent)
  if (kind !== 'Provider') return parts
  return [...parts, ...providers.filter(({ metadata }) => isAmong(parts, metadata)).flatMap(fallbacksOf)]
}

/** Of a task without Secrets none; of others only config maps where all is in one namespace. `providers` are those that there are. */
export function listUsesElsewhere(task: Task, agent: Agent | undefined, providers: readonly Provider[]): Use[] {
  const spaces = [...new Set(listSecretsInside(task, agent).map(({ namespace }) => namespace))]
  if (spaces.length === 0) return []
  const usesOf = (plural: string, { namespace, name = anyPart }: Part): Use[] =>
    spaces.map((space) => ({ entry: `${namespace}.${plural}`, name, space }))
  const elsewhere = guardedParts.flatMap((kind) =>
    listParts(kind, [task, agent], providers).flatMap((part) =>
      usesOf(kinds[kind].plural, part).filter(({ space }) => space !== part.namespace),
    ),
  )
  return [...elsewhere, ...partsOfTasks.ConfigMap(task, agent).flatMap((part) => usesOf(guardedTexts, part))]
}

/** What the texts say. */
export function readUses(texts: UseTexts): Use[] {
  return Object.entries(texts).flatMap(([entry, text]) =>
    text
      .split('\n')
      .map((line) => line.split(' '))
      .flatMap(([name, space]) => (name && space ? [{ entry, name, space }] : [])),
  )
}

function writeNames(names: ReadonlySet<string>): string[] {
  return names.has(anyPart) || names.size > maxNames ? [anyPart] : [...names]
}

/** The texts of these uses, always in the same order. */
export function writeUses(uses: readonly Use[]): UseTexts {
  const byEntry = Map.groupBy(uses, ({ entry }) => entry)
  const texts = [...byEntry].map(([entry, all]): [string, string] => {
    const bySpace = Map.groupBy(all, ({ space }) => space)
    const lines = [...bySpace].flatMap(([space, some]) =>
      writeNames(new Set(some.map(({ name }) => name))).map((name) => `${name} ${space}`),
    )
    return [entry, lines.toSorted().join('\n')]
  })
  return Object.fromEntries(texts)
}
