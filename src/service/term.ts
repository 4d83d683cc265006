// A replica may start and remove workloads only during its term, which begins when it gets the lease and ends when it loses it.

import { SvcError } from '../errors.ts'
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
  let lost: AbortSignal | undefined

  /** A replica that was suspended may not know yet that another one leads; it must not start or remove anything. */
  function requireTerm(): void {
    if (lost === undefined || lost.aborted) throw new SvcError('Unavailable', 'this replica does not lead any more')
  }

  return {
    leadership: {
      async acquire(signal) {
        const term = await leadership.acquire(signal)
        lost = term
        // From now on the next leader follows the logs.
        onAbort(term, () => void workloads.detach())
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
