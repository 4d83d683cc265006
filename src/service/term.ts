// A replica may start and remove workloads only during its term, which begins when it gets the lease and ends when it loses it.
import { onAbort } from '../lib/abort.ts'
import type { Leadership } from '../ports/service/leadership.ts'
import type { Workloads } from '../ports/tasks/workloads.ts'

type TermParts<W extends Workloads> = { leadership: Leadership; workloads: W & { detach(): Promise<void> } }

/** Ties the two together: workloads refuse to act outside a term and detach when it ends. */
export function bindTerm<W extends Workloads>({
  leadership,
  workloads,
}: TermParts<W>): {
  leadership: Leadership
  workloads: W
} {
  return {
    leadership: {
      async acquire(signal) {
        const term = await leadership.acquire(signal)
        // From now on the next leader follows the logs.
        onAbort(term, () => void workloads.detach())
        return term
      },
      requireTerm: () => leadership.requireTerm(),
      release: () => leadership.release(),
    },
    workloads: {
      ...workloads,
      async ensure(spec) {
        leadership.requireTerm()
        await workloads.ensure(spec)
      },
      async remove(key) {
        leadership.requireTerm()
        await workloads.remove(key)
      },
    },
  }
}
