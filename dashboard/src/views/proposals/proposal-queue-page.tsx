// What agents propose to remember, one after the other: accepted, put in other words, or rejected; by keyboard if one likes.
import { useState } from 'react'
import {
  createMemoryProposal,
  listMemoryProposals,
  type MemoryProposal,
} from '../../../../src/contract/api/memory/memory-proposals.ts'
import { useRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { GoneFromQueue, useQueue, useRest } from '../../parts/queue.tsx'
import { useParameters, useScope, useScopedPath } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { Offered } from '../../session/offered.tsx'
import { NewProposal } from './new-proposal.tsx'
import { ProposalView } from './proposal-view.tsx'
import './proposals.css'

const states = ['accepted', 'applied', 'rejected', 'archived']

function useProposals() {
  const { home } = useScope()
  const [parameters] = useParameters()
  const status = parameters.get('status') ?? 'pending'
  const query = { namespace: home, status, query: parameters.get('q') ?? undefined, limit: 500 }
  return useRecord('MemoryProposal', listMemoryProposals, { query } as never)
}

export default function ProposalQueuePage() {
  const scoped = useScopedPath()
  const { home } = useScope()
  const proposals = useProposals()
  const items: MemoryProposal[] = proposals.data?.items ?? []
  const { chosen, isGone, choose, step } = useQueue(items, 'proposal')
  const [isResting, rest] = useRest()
  const [isWriting, setWriting] = useState(false)
  /** The queue goes on with the next one. */
  function decided(proposal: MemoryProposal): void {
    const at = items.indexOf(proposal)
    choose(items[at + 1] ?? items[at - 1])
    rest()
  }
  return (
    <Page
      title="Proposals to remember"
      actions={
        <>
          <Offered to={createMemoryProposal}>
            <Button onClick={() => setWriting(true)}>New proposal</Button>
          </Offered>
          <LinkButton to={scoped('/memories')}>All memories</LinkButton>
        </>
      }
    >
      {isWriting && <NewProposal namespace={home} onClose={() => setWriting(false)} />}
      <div className="row">
        <SearchBox label="Search in proposals" />
        <Choice name="status" label="State" values={states} none="Waiting for review" />
        <span className="soft">
          In the namespace <Foreign text={home} />.
        </span>
      </div>
      {proposals.error !== null && <Failure error={proposals.error} retry={() => void proposals.refetch()} />}
      {proposals.isLoading && <Loading what="proposals" />}
      {proposals.data !== undefined && items.length === 0 && <NothingProposed />}
      {(chosen !== undefined || isGone) && (
        <div className="queue">
          <nav className="queue-list" aria-label={`${items.length} proposals`}>
            {items.map((one) => (
              <button
                key={one.id}
                type="button"
                className="queue-entry"
                aria-current={one === chosen}
                onClick={() => choose(one)}
              >
                <Foreign text={one.title} most={120} />
                <span className="soft">
                  {one.type} · <Foreign text={one.agentName ?? one.createdBy?.name} most={80} />{' '}
                  <Ago at={one.createdAt} />
                </span>
              </button>
            ))}
          </nav>
          {isGone && <GoneFromQueue onNext={() => step(1)} />}
          {chosen !== undefined && (
            <ProposalView key={chosen.id} proposal={chosen} isResting={isResting} onDecided={() => decided(chosen)} />
          )}
        </div>
      )}
    </Page>
  )
}

function NothingProposed() {
  const [parameters] = useParameters()
  const isFiltered = parameters.has('q') || parameters.has('status')
  return (
    <Empty title={isFiltered ? 'No proposal matches' : 'Nothing waits for review'}>
      <p>
        Agents with memory propose what later tasks should know. What you accept is remembered, and told to those that
        it helps.
      </p>
    </Empty>
  )
}
