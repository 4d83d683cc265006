// Remembers targets as long as nothing that they are made from has changed.
import type { Ports } from '../../ports/index.ts'
import type { Target } from './target.ts'

/** What another replica changed need not be told. */
const rememberedMs = 5000
const maxRemembered = 1000
const watchPauseMs = 1000

export type TargetMemory = {
  read(key: string): Target | undefined
  fill(key: string, resolve: () => Promise<Target>): Promise<Target>
  close(): void
}

export function createTargetMemory({
  resources,
  secrets,
  clock,
}: Pick<Ports, 'resources' | 'secrets' | 'clock'>): TargetMemory {
  const remembered = new Map<string, { target: Target; until: number }>()
  const closing = new AbortController()
  let isWatching = false
  let changes = 0

  function forget(): void {
    changes += 1
    remembered.clear()
  }

  async function watchOnce(): Promise<void> {
    try {
      for await (const _event of resources.watch('Provider', { signal: closing.signal })) forget()
    } catch {
      // Too old, or the store was away: what was missed is unknown.
    }
    forget()
  }

  /** Between two watches nothing is remembered. */
  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      isWatching = true
      await watchOnce()
      isWatching = false
      await clock.sleep(watchPauseMs, closing.signal)
    }
  }

  let isFollowing = false
  function startFollowing(): void {
    isFollowing = true
    follow().catch(() => {})
    closing.signal.addEventListener('abort', secrets.onChange(forget), { once: true })
  }

  function keep(key: string, target: Target): void {
    const [oldest] = remembered.keys()
    if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest)
    remembered.set(key, { target, until: performance.now() + rememberedMs })
  }

  return {
    read(key) {
      const known = remembered.get(key)
      return known !== undefined && known.until > performance.now() ? known.target : undefined
    },
    async fill(key, resolve) {
      if (!isFollowing) startFollowing()
      const before = changes
      const target = await resolve()
      // What changed meanwhile may be in it or not.
      if (isWatching && before === changes) keep(key, target)
      return target
    },
    close: () => closing.abort(),
  }
}
