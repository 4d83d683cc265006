// What agents propose to remember, one after the other: accepted, put in other words, or rejected; by keyboard if one likes.
import { useEffect } from 'react'
import { listMemoryProposals, type MemoryProposal } from '../../../../src/contract/api/memory-proposals.ts'
import { Page } from '../../app/page.tsx'
import { useParameters, useScope, useScopedPath } from '../../app/scope.ts'
import { useRecord } from '../../data/records.ts'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { isTyping } from '../../parts/typing.ts'
import { ProposalView } from './proposal-view.tsx'
import '../../styles/memories.css'

const states = ['accepted', 'applied', 'rejected', 'archived']

function useProposals() {
  const { home } = useScope()
  const [parameters] = useParameters()
  const status = parameters.get('status') ?? 'pending'
  const query = { namespace: home, status, query: parameters.get('q') ?? undefined, limit: 500 }
  return useRecord('MemoryProposal', listMemoryProposals, { query } as never)
}

/** `j` and `k` go to the next and to the one before. */
function useSteps(items: readonly MemoryProposal[], chosen: number): void {
  const [, change] = useParameters()
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined || isTyping(event)) return
      const next = items[chosen + step]
      if (next !== undefined) change({ proposal: next.id })
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [items, chosen, change])
}

export default function ProposalQueuePage() {
  const scoped = useScopedPath()
  const { home } = useScope()
  const [parameters, change] = useParameters()
  const proposals = useProposals()
  const items: MemoryProposal[] = proposals.data?.items ?? []
  const found = items.findIndex(({ id }) => id === parameters.get('proposal'))
  const chosen = Math.max(0, found)
  const proposal = items[chosen]
  useSteps(items, chosen)
  /** The queue goes on with the next one. */
  function decided(): void {
    change({ proposal: (items[chosen + 1] ?? items[chosen - 1])?.id })
  }
  return (
    <Page title="Proposals to remember" actions={<LinkButton to={scoped('/memories')}>All memories</LinkButton>}>
      <div className="row">
        <SearchBox label="Search in proposals" />
        <Choice name="status" label="State" values={states} none="Waiting for review" />
        <span className="soft">Of the namespace {home}.</span>
      </div>
      {proposals.error !== null && <Failure error={proposals.error} retry={() => void proposals.refetch()} />}
      {proposals.isLoading && <Loading what="proposals" />}
      {proposals.data !== undefined && items.length === 0 && <NothingProposed />}
      {proposal !== undefined && (
        <div className="queue">
          <nav className="queue-list" aria-label={`${items.length} proposals`}>
            {items.map((one, index) => (
              <button
                key={one.id}
                type="button"
                className="queue-entry"
                aria-current={index === chosen}
                onClick={() => change({ proposal: one.id })}
              >
                <Foreign text={one.title} most={120} />
                <span className="soft">
                  {one.type} · <Foreign text={one.agentName ?? one.createdBy?.name} most={80} />{' '}
                  <Ago at={one.createdAt} />
                </span>
              </button>
            ))}
          </nav>
          <ProposalView key={proposal.id} proposal={proposal} onDecided={decided} />
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
