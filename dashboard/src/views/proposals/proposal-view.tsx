// One proposal with all that a decision needs, and the decision.
import { useState } from 'react'
import { updateMemory } from '../../../../src/contract/api/memory/memories.ts'
import type { MemoryProposal } from '../../../../src/contract/api/memory/memory-proposals.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { useKeys } from '../../parts/keys.ts'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Provenance } from '../../parts/provenance.tsx'
import { Ago } from '../../parts/time.tsx'
import { useMay } from '../../session/caller.ts'
import { Offered } from '../../session/offered.tsx'
import { AcceptDialog } from './accept-dialog.tsx'
import { useDecision } from './use-decision.ts'

const tones: Record<string, Tone> = { pending: 'warn', accepted: 'good', applied: 'good', rejected: 'bad' }

type DecisionProps = { proposal: MemoryProposal; onDecided: () => void }

/** `isResting`: it has just come in sight by itself, and cannot be decided yet. */
type ViewProps = DecisionProps & { isResting: boolean }

export function ProposalView({ proposal, isResting, onDecided }: ViewProps) {
  const { title, status, type, description, content, patch } = proposal
  const mayDecide = useMay(updateMemory)
  return (
    <article className="card stack" aria-label={title.slice(0, 120)}>
      <div className="row">
        <h2>
          <Foreign text={title} />
        </h2>
        <Badge tone={tones[status] ?? 'plain'}>{status}</Badge>
        <span className="badge">
          <Foreign text={type} />
        </span>
      </div>
      {content !== undefined && (
        <section className="block" aria-label="What is to be remembered">
          <Markdown label="What is to be remembered" text={content} headings={3} />
        </section>
      )}
      {description !== undefined && <Markdown label="Description" text={description} headings={3} />}
      {patch !== undefined && <ForeignBlock label="Change" text={patch} />}
      <Provenance of={proposal} />
      {status === 'pending' && mayDecide && (
        <Decision proposal={proposal} isResting={isResting} onDecided={onDecided} />
      )}
      {status !== 'pending' && <Decided proposal={proposal} onDecided={onDecided} />}
    </article>
  )
}

function Decided({ proposal, onDecided }: DecisionProps) {
  const { reviewer, reviewedBy, reviewedAt, reviewNote, status, type } = proposal
  const { remember, archive, isBusy } = useDecision(proposal, onDecided)
  return (
    <>
      {reviewedAt !== undefined && (
        <p className="soft">
          Decided by <Foreign text={reviewedBy?.name ?? reviewer} /> <Ago at={reviewedAt} />
          {reviewNote !== undefined && ': '}
          <Foreign text={reviewNote} />
        </p>
      )}
      <Offered to={updateMemory}>
        <div className="row">
          {status === 'accepted' && type === 'memory' && (
            <Button look="main" busy={isBusy} onClick={remember}>
              Remember it
            </Button>
          )}
          {(status === 'accepted' || status === 'rejected') && (
            <Button busy={isBusy} onClick={archive}>
              Archive
            </Button>
          )}
        </div>
      </Offered>
    </>
  )
}

/** `a` accepts, `e` edits and accepts, `r` rejects. */
function Decision({ proposal, isResting, onDecided }: ViewProps) {
  const [isEditing, setEditing] = useState(false)
  const { accept, reject, isBusy: isDeciding } = useDecision(proposal, onDecided)
  const isBusy = isDeciding || isResting
  useKeys(isBusy ? {} : { a: () => accept(), e: () => setEditing(true), r: reject })
  return (
    <>
      <div className="row">
        <Button look="main" busy={isBusy} onClick={() => accept()} aria-keyshortcuts="a">
          Accept <kbd>a</kbd>
        </Button>
        <Button busy={isBusy} onClick={() => setEditing(true)} aria-keyshortcuts="e">
          Edit and accept <kbd>e</kbd>
        </Button>
        <Button look="danger" busy={isBusy} onClick={reject} aria-keyshortcuts="r">
          Reject <kbd>r</kbd>
        </Button>
        <span className="soft">
          <kbd>j</kbd> <kbd>k</kbd> next and before
        </span>
      </div>
      {isEditing && (
        <AcceptDialog
          content={proposal.content ?? ''}
          isBusy={isBusy}
          onAccept={(content) => accept(content)}
          onClose={() => setEditing(false)}
        />
      )}
    </>
  )
}
