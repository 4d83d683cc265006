// Memories, and what is proposed for them.
import * as routes from '../../../contract/api/memory/memories.ts'
import * as proposals from '../../../contract/api/memory/memory-proposals.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { wrapPage } from '../../paging.ts'

export function bindMemories(bind: Bind, { usecases }: RouteContext): void {
  const { memories } = usecases
  bind(routes.listMemories, async ({ caller, namespace, query }) => {
    const { items, notice } = await memories.list(caller, namespace, query)
    return { json: { ...wrapPage({ items }, (memory) => memory), notice } }
  })
  bind(routes.getMemory, async ({ caller, namespace, params }) => {
    return { json: await memories.get(caller, { namespace, id: params.id }) }
  })
  bind(routes.createMemory, async ({ caller, namespace, body }) => {
    return { json: await memories.create(caller, namespace, body) }
  })
  bind(routes.updateMemory, async ({ caller, namespace, params, body }) => {
    return { json: await memories.change(caller, { namespace, id: params.id }, body) }
  })
  bind(routes.deleteMemory, async ({ caller, namespace, params }) => {
    await memories.remove(caller, { namespace, id: params.id })
    return { empty: true }
  })
  bind(routes.disableMemory, async ({ caller, namespace, params }) => {
    await memories.setDisabled(caller, { namespace, id: params.id }, true)
    return { empty: true }
  })
  bind(routes.enableMemory, async ({ caller, namespace, params }) => {
    await memories.setDisabled(caller, { namespace, id: params.id }, false)
    return { empty: true }
  })
}

export function bindMemoryProposals(bind: Bind, { usecases }: RouteContext): void {
  const { memoryProposals } = usecases
  bind(proposals.listMemoryProposals, async ({ caller, namespace, query }) => {
    const items = await memoryProposals.list(caller, namespace, query)
    return { json: wrapPage({ items }, (proposal) => proposal) }
  })
  bind(proposals.getMemoryProposal, async ({ caller, namespace, params }) => {
    return { json: await memoryProposals.get(caller, { namespace, id: params.id }) }
  })
  bind(proposals.createMemoryProposal, async ({ caller, namespace, body }) => {
    return { json: await memoryProposals.create(caller, namespace, body) }
  })
  bind(proposals.reviewMemoryProposal, async ({ caller, namespace, params, body }) => {
    await memoryProposals.review(caller, { namespace, id: params.id }, body)
    return { empty: true }
  })
  bind(proposals.applyMemoryProposal, async ({ caller, namespace, params, body }) => {
    return { json: await memoryProposals.apply(caller, { namespace, id: params.id }, body) }
  })
  bind(proposals.archiveMemoryProposal, async ({ caller, namespace, params }) => {
    await memoryProposals.archive(caller, { namespace, id: params.id })
    return { empty: true }
  })
}
