// Sums of tokens and cost.
import type { Caller } from '../ports/identity.ts'
import type { UsageQuery, UsageSum } from '../ports/usage.ts'
import { requireAccess } from './access.ts'
import type { UsecaseDeps } from './deps.ts'

export type UsageUsecases = {
  /** Without a namespace: of all that the caller may see. */
  sum(caller: Caller, query: UsageQuery): Promise<UsageSum[]>
}

export function createUsageUsecases({ ports }: UsecaseDeps): UsageUsecases {
  return {
    async sum(caller, query) {
      const namespace = query.namespace ?? caller.boundNamespace
      const seen = namespace === undefined ? {} : { namespace }
      await requireAccess(ports, caller, { verb: 'list', kind: 'Usage', ...seen })
      return ports.records.usage.sum({ ...query, ...seen })
    },
  }
}
