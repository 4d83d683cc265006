// What chat has made of agents, tools, skills, providers and secrets, kept until one of them changes.
import type { Ports } from '../../ports/index.ts'
import type { Resources } from '../../ports/resources.ts'

export const catalogKinds = ['Agent', 'Tool', 'Skill', 'Provider'] as const
export type CatalogKind = (typeof catalogKinds)[number]

/** Values made from one namespace; `anywhere` for those that may be made from several. */
export type Shelf<T> = { get(namespace: string, name: string, load: () => Promise<T>): Promise<T> }

export const anywhere = ''

export type CatalogMemory = {
  createShelf<T>(): Shelf<T>
  /** Ends the watches; from then on nothing is kept. */
  close(): void
}

const mostKept = 1000

type Kept<T> = Map<string, Map<string, Promise<T>>>

function keepValue<T>(kept: Kept<T>, namespace: string, name: string, load: () => Promise<T>): Promise<T> {
  const known = kept.get(namespace)?.get(name)
  if (known !== undefined) return known
  if (kept.size >= mostKept || (kept.get(namespace)?.size ?? 0) >= mostKept) kept.clear()
  const values = kept.get(namespace) ?? new Map<string, Promise<T>>()
  kept.set(namespace, values)
  // In its place before it is read: a change in between takes it away again.
  const loading = load()
  values.set(name, loading)
  loading.catch(() => values.delete(name))
  return loading
}

export function createCatalogMemory({ resources, secrets }: Pick<Ports, 'resources' | 'secrets'>): CatalogMemory {
  const shelves: Pick<Kept<unknown>, 'delete' | 'clear'>[] = []
  const closing = new AbortController()
  let watching: Promise<void> | undefined

  function forget(namespace: string): void {
    for (const kept of shelves) {
      kept.delete(namespace)
      kept.delete(anywhere)
    }
  }

  /** Resolves once every change from now on is noticed. */
  async function startWatching(): Promise<void> {
    const ending = new AbortController()
    const stopSecrets = secrets.onChange(({ namespace }) => forget(namespace))
    const end = () => {
      // However a watch ends, nothing that is kept can be trusted from then on.
      ending.abort()
      stopSecrets()
      closing.signal.removeEventListener('abort', end)
      for (const kept of shelves) kept.clear()
      watching = undefined
    }
    closing.signal.addEventListener('abort', end, { once: true })
    const follow = (kind: CatalogKind) => watchKind(resources, kind, { forget, signal: ending.signal, end })
    await Promise.all(catalogKinds.map(follow)).catch((error) => {
      end()
      throw error
    })
  }

  return {
    createShelf<T>(): Shelf<T> {
      const kept: Kept<T> = new Map()
      shelves.push(kept)
      return {
        async get(namespace, name, load) {
          if (closing.signal.aborted) return load()
          watching ??= startWatching()
          await watching
          return keepValue(kept, namespace, name, load)
        },
      }
    },
    close: () => closing.abort(),
  }
}

type Watch = { forget(namespace: string): void; signal: AbortSignal; end(): void }

async function watchKind(resources: Resources, kind: CatalogKind, { forget, signal, end }: Watch): Promise<void> {
  const { resourceVersion } = await resources.list(kind, { limit: 1 })
  const follow = async () => {
    for await (const { object } of resources.watch(kind, { resourceVersion, signal })) forget(object.metadata.namespace)
  }
  follow().then(end, end)
}
