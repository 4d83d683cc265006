// What a replica may do only while it leads: its term begins with the lease and ends when that is lost.
import { SvcError } from '../errors.ts'
import type { Leadership } from '../ports/leadership.ts'
import type { Workloads } from '../ports/workloads.ts'

type TermParts<W extends Workloads> = { leadership: Leadership; workloads: W & { letGo(): Promise<void> } }

/** Leadership and workloads that know of each other. */
export function bindTerm<W extends Workloads>({
  leadership,
  workloads,
}: TermParts<W>): {
  leadership: Leadership
  workloads: W
} {
  let lost: AbortSignal | undefined

  /** One that slept and does not know yet that another leads starts and ends nothing any more. */
  function requireTerm(): void {
    if (lost === undefined || lost.aborted) throw new SvcError('Unavailable', 'this replica does not lead any more')
  }

  return {
    leadership: {
      async acquire(signal) {
        const term = await leadership.acquire(signal)
        lost = term
        // Who leads no longer follows no logs: the next leader does.
        term.addEventListener('abort', () => void workloads.letGo(), { once: true })
        return term
      },
      release: () => leadership.release(),
    },
    workloads: {
      ...workloads,
      async ensure(spec) {
        requireTerm()
        await workloads.ensure(spec)
      },
      async remove(key) {
        requireTerm()
        await workloads.remove(key)
      },
    },
  }
}
