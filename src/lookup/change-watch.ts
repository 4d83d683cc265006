// Reports every change to some kinds and to Secrets, and says when it may have missed some.
import type { Kind } from '../contract/kinds/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'

export type ChangePorts = {
  resources: Pick<Resources, 'list' | 'watch'>
  secrets: Pick<Secrets, 'onChange'>
  clock: Pick<Clock, 'sleep'>
}

export type ChangeListener = {
  kinds: readonly Kind[]
  /** Something in the namespace was created, changed or removed. */
  onChange(namespace: string): void
  /** Changes go unnoticed from now on; the most recent ones may have been missed too. */
  onLost(): void
  /** Ends it for good. */
  signal: AbortSignal
}

export type ChangeWatch = {
  /** Whether every change is being reported. */
  isOpen(): boolean
  /** Resolves when it is open, or cannot be opened for now. Never rejects. */
  open(): Promise<void>
}

/** How long to wait before a broken watch is opened again. */
const pauseMs = 1000

async function followKind(
  resources: ChangePorts['resources'],
  kind: Kind,
  { onChange, signal, end }: Pick<ChangeListener, 'onChange' | 'signal'> & { end(): void },
): Promise<void> {
  const { resourceVersion } = await resources.list(kind, { limit: 1 })
  const read = async () => {
    for await (const { object } of resources.watch(kind, { resourceVersion, signal }))
      onChange(object.metadata.namespace)
  }
  read().then(end, end)
}

/** Opens on demand: a reader that caches nothing need not follow anything. */
export function createChangeWatch(
  { resources, secrets, clock }: ChangePorts,
  { kinds, onChange, onLost, signal: closing }: ChangeListener,
): ChangeWatch {
  let isOpen = false
  let opening: Promise<void> | undefined

  async function start(): Promise<void> {
    const ending = new AbortController()
    const stopSecrets = secrets.onChange(({ namespace }) => onChange(namespace))
    const end = () => {
      // One broken watch ends the others, and each of them gets here.
      if (ending.signal.aborted) return
      ending.abort()
      stopSecrets()
      closing.removeEventListener('abort', end)
      isOpen = false
      onLost()
      clock.sleep(pauseMs, closing).then(
        () => {
          opening = undefined
        },
        () => {},
      )
    }
    closing.addEventListener('abort', end, { once: true })
    const follow = (kind: Kind) => followKind(resources, kind, { onChange, signal: ending.signal, end })
    await Promise.all(kinds.map(follow)).catch(end)
    isOpen = !ending.signal.aborted
  }

  return {
    isOpen: () => isOpen,
    async open() {
      if (closing.aborted) return
      opening ??= start()
      await opening
    },
  }
}
