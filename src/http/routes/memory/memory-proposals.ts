// Memory proposals.
import * as routes from '../../../contract/api/memory/memory-proposals.ts'
import type { Bind } from '../../bind.ts'
import { wrapPage } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

export function bindMemoryProposals(bind: Bind, { usecases }: RouteContext): void {
  const { memoryProposals } = usecases
  bind(routes.listMemoryProposals, async ({ caller, namespace, query }) => {
    const items = await memoryProposals.list(caller, namespace, query)
    return { json: wrapPage({ items }, (proposal) => proposal) }
  })
  bind(routes.getMemoryProposal, async ({ caller, namespace, params }) => {
    return { json: await memoryProposals.get(caller, { namespace, id: params.id }) }
  })
  bind(routes.createMemoryProposal, async ({ caller, namespace, body }) => {
    return { json: await memoryProposals.create(caller, namespace, body) }
  })
  bind(routes.reviewMemoryProposal, async ({ caller, namespace, params, body }) => {
    await memoryProposals.review(caller, { namespace, id: params.id }, body)
    return { empty: true }
  })
  bind(routes.applyMemoryProposal, async ({ caller, namespace, params, body }) => {
    return { json: await memoryProposals.apply(caller, { namespace, id: params.id }, body) }
  })
  bind(routes.archiveMemoryProposal, async ({ caller, namespace, params }) => {
    await memoryProposals.archive(caller, { namespace, id: params.id })
    return { empty: true }
  })
}
