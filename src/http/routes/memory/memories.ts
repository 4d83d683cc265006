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
  bind.json(routes.getMemory, ({ caller, record }) => memories.get(caller, record))
  bind.json(routes.createMemory, ({ caller, namespace, body }) => memories.create(caller, namespace, body))
  bind.json(routes.updateMemory, ({ caller, record, body }) => memories.change(caller, record, body))
  bind.empty(routes.deleteMemory, ({ caller, record }) => memories.remove(caller, record))
  bind.empty(routes.disableMemory, ({ caller, record }) => memories.setDisabled(caller, record, true))
  bind.empty(routes.enableMemory, ({ caller, record }) => memories.setDisabled(caller, record, false))
}

export function bindMemoryProposals(bind: Bind, { usecases }: RouteContext): void {
  const { memoryProposals } = usecases
  bind(proposals.listMemoryProposals, async ({ caller, namespace, query }) => {
    const items = await memoryProposals.list(caller, namespace, query)
    return { json: wrapPage({ items }, (proposal) => proposal) }
  })
  bind.json(proposals.getMemoryProposal, ({ caller, record }) => memoryProposals.get(caller, record))
  bind.json(proposals.createMemoryProposal, ({ caller, namespace, body }) =>
    memoryProposals.create(caller, namespace, body),
  )
  bind.empty(proposals.reviewMemoryProposal, ({ caller, record, body }) => memoryProposals.review(caller, record, body))
  bind.json(proposals.applyMemoryProposal, ({ caller, record, body }) => memoryProposals.apply(caller, record, body))
  bind.empty(proposals.archiveMemoryProposal, ({ caller, record }) => memoryProposals.archive(caller, record))
}
