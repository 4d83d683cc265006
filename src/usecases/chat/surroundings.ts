// What a model is told of a namespace: its agents, tools, skills and providers. Kept until one of them changes.
import type { Agent } from '../../contract/resources/agent.ts'
import type { Kind, ResourceOf } from '../../contract/resources/index.ts'
import { isSvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity.ts'
import type { Resources } from '../../ports/resources.ts'
import { requireAccess } from '../access.ts'
import type { UsecaseDeps } from '../deps.ts'
import { escapeText } from './markup.ts'

/** Lines for the system prompt, escaped. */
export type Surroundings = { agents: string[]; tools: string[]; skills: string[]; providers: string[] }

const kindsShown = ['Agent', 'Tool', 'Skill', 'Provider'] as const
type ShownKind = (typeof kindsShown)[number]

/** More than this would fill the context; list_agents and list_tools show all. */
const mostShown = 50
const longestDescription = 300
const mostNamespaces = 1000

export type SurroundingsReader = {
  /** What the caller may see there. */
  read(caller: Caller, namespace: string): Promise<Surroundings>
}

export function createSurroundings({ ports }: UsecaseDeps): SurroundingsReader {
  const cache = new Map<string, Promise<Surroundings>>()
  let watching: Promise<void> | undefined

  function forget(): void {
    cache.clear()
    watching = undefined
  }

  /** Resolves once every change from now on is noticed. */
  async function startWatching(): Promise<void> {
    const ending = new AbortController()
    const end = () => {
      ending.abort()
      forget()
    }
    await Promise.all(kindsShown.map((kind) => watchKind(ports.resources, kind, { cache, signal: ending.signal, end })))
  }

  function load(namespace: string): Promise<Surroundings> {
    const known = cache.get(namespace)
    if (known !== undefined) return known
    if (cache.size >= mostNamespaces) cache.clear()
    // In its place before it is read: a change in between takes it away again.
    const loading = loadAll(ports.resources, namespace)
    cache.set(namespace, loading)
    loading.catch(() => cache.delete(namespace))
    return loading
  }

  return {
    async read(caller, namespace) {
      watching ??= startWatching()
      await watching.catch((error) => {
        forget()
        throw error
      })
      const [all, ...visible] = await Promise.all([
        load(namespace),
        ...kindsShown.map((kind) => maySee({ ports }, caller, { kind, namespace })),
      ])
      const [agents, tools, skills, providers] = visible
      return {
        agents: agents ? all.agents : [],
        tools: tools ? all.tools : [],
        skills: skills ? all.skills : [],
        providers: providers ? all.providers : [],
      }
    },
  }
}

type Watch = { cache: Map<string, unknown>; signal: AbortSignal; end(): void }

async function watchKind(resources: Resources, kind: ShownKind, { cache, signal, end }: Watch): Promise<void> {
  const { resourceVersion } = await resources.list(kind, { limit: 1 })
  const follow = async () => {
    for await (const { object } of resources.watch(kind, { resourceVersion, signal })) {
      cache.delete(object.metadata.namespace)
    }
  }
  // However it ends, nothing that is kept can be trusted from then on.
  follow().then(end, end)
}

async function maySee(
  { ports }: Pick<UsecaseDeps, 'ports'>,
  caller: Caller,
  { kind, namespace }: { kind: Kind; namespace: string },
): Promise<boolean> {
  try {
    await requireAccess(ports, caller, { verb: 'list', kind, namespace })
    return true
  } catch (error) {
    if (isSvcError(error, 'Forbidden')) return false
    throw error
  }
}

async function loadAll(resources: Resources, namespace: string): Promise<Surroundings> {
  const [agents, tools, skills, providers] = await Promise.all([
    loadLines(resources, { kind: 'Agent', namespace }, describeAgent),
    loadLines(resources, { kind: 'Tool', namespace }, ({ spec }) => cut(spec.description)),
    loadLines(resources, { kind: 'Skill', namespace }, ({ spec }) =>
      [spec.displayName, cut(spec.description)].filter((part) => part !== undefined).join(': '),
    ),
    loadLines(resources, { kind: 'Provider', namespace }, ({ spec }) => `type ${spec.type}`),
  ])
  return { agents, tools, skills, providers }
}

/** `name - description`, one for each object. */
async function loadLines<K extends ShownKind>(
  resources: Resources,
  { kind, namespace }: { kind: K; namespace: string },
  describe: (object: ResourceOf<K>) => string,
): Promise<string[]> {
  const page = await resources.list(kind, { namespace, limit: mostShown })
  const lines = page.items.map((object) => `${object.metadata.name} - ${escapeText(describe(object))}`)
  return page.continue === undefined ? lines : [...lines, 'and more, which the list tools show']
}

function describeAgent({ spec }: Agent): string {
  const parts = [
    spec.model?.name === undefined ? undefined : `model: ${spec.model.name}`,
    spec.providerRef === undefined ? undefined : `provider: ${spec.providerRef.name}`,
    `tools: [${(spec.tools ?? []).filter((tool) => tool.enabled).map((tool) => tool.name)}]`,
    spec.runtime?.type === undefined ? undefined : `runtime: ${spec.runtime.type}`,
    spec.coordination?.enabled ? 'coordinates others' : undefined,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

function cut(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longestDescription ? `${line.slice(0, longestDescription)}...` : line
}
