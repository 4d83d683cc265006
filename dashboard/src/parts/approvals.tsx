// What tasks ask people for: what would be done, and the two answers.
import { useId, useState } from 'react'
import {
  type ApprovalItem,
  type ApprovalScope,
  approve,
  decline,
  listApprovals,
  networkTool,
} from '../../../src/contract/api/tasks/approvals.ts'
import { useChange, useRecord } from '../data/records.ts'
import type { SummaryOf } from '../data/summary.ts'
import { Offered } from '../session/offered.tsx'
import { Button } from './button.tsx'
import { Foreign, ForeignBlock } from './foreign.tsx'
import { Failure } from './states.tsx'
import { Ago } from './time.tsx'
import { say, sayFailure } from './toasts.tsx'
import './approvals.css'

type Asking = { namespace: string | undefined; tasks: readonly SummaryOf<'Task'>[] }

const over = ['Succeeded', 'Failed', 'Cancelled']

/** Those of these tasks that wait for an answer. */
export function PendingApprovals({ namespace, tasks }: Asking) {
  const open = new Set(
    tasks.filter(({ status }) => !over.includes(status?.phase ?? '')).map(({ metadata }) => metadata.uid),
  )
  const approvals = useRecord(
    'Approval',
    listApprovals,
    { query: { namespace, status: 'pending', limit: 500 } },
    open.size > 0,
  )
  if (approvals.error !== null) return <Failure error={approvals.error} />
  const asked = open.size === 0 ? [] : (approvals.data?.items ?? [])
  return asked.filter(({ taskUid }) => open.has(taskUid)).map((one) => <Approval key={one.id} approval={one} />)
}

const scopeWords: Record<ApprovalScope, string> = { once: 'Once', task: 'For this task', always: 'Always' }
const scopeHints: Record<ApprovalScope, string> = {
  once: 'Its next connection passes',
  task: 'All of this task pass',
  always: 'All of this task pass, and its agent may reach the host from now on',
}

/** How far a yes goes: a host has three buttons, a call one. */
function scopesOf({
  tool,
}: ApprovalItem): [scope: ApprovalScope | undefined, words: string, hint: string | undefined][] {
  if (tool !== networkTool) return [[undefined, 'Allow', undefined]]
  return (['task', 'once', 'always'] as const).map((scope) => [scope, scopeWords[scope], scopeHints[scope]])
}

function Asked({ approval: { tool, arguments: args, expiresAt } }: { approval: ApprovalItem }) {
  if (tool === networkTool)
    return (
      <p className="soft">
        Its programs are refused this host until somebody answers; after a yes their next try passes. The question
        expires <Ago at={expiresAt} />.
      </p>
    )
  return (
    <>
      <p className="soft">
        It would run{' '}
        <code>
          <Foreign text={tool} />
        </code>
        . Without an answer it is refused <Ago at={expiresAt} />.
      </p>
      {Object.keys(args).length > 0 && <ForeignBlock label="What it would do" text={JSON.stringify(args, null, 2)} />}
    </>
  )
}

export function Approval({ approval }: { approval: ApprovalItem }) {
  const { id, namespace, taskName, tool, message } = approval
  const headingId = useId()
  const [reason, setReason] = useState('')
  const allow = useChange(approve, 'Approval')
  const deny = useChange(decline, 'Approval')
  const isBusy = allow.isPending || deny.isPending
  function answer(change: typeof allow | typeof deny, word: string, scope?: ApprovalScope): void {
    const body = { ...(reason.trim() !== '' && { reason }), ...(scope && { scope }) }
    const input = { params: { id }, query: { namespace }, body }
    change.mutate(input as never, { onSuccess: () => say(`${tool}: ${word}`), onError: sayFailure })
  }
  return (
    <section className="card approval stack" aria-labelledby={headingId}>
      <h2 id={headingId}>
        <Foreign text={taskName} /> asks: <Foreign text={message} />
      </h2>
      <Asked approval={approval} />
      <Offered to={approve}>
        <div className="row">
          {scopesOf(approval).map(([scope, words, hint], at) => (
            <Button
              key={words}
              look={at === 0 ? 'main' : undefined}
              busy={isBusy}
              title={hint}
              onClick={() => answer(allow, 'allowed', scope)}
            >
              {words}
            </Button>
          ))}
          <Button look="danger" busy={isBusy} onClick={() => answer(deny, 'denied')}>
            Deny
          </Button>
          <input
            className="input approval-reason"
            dir="auto"
            aria-label="Why, for the model to read"
            placeholder="Why (the model reads it)"
            maxLength={4096}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </div>
      </Offered>
    </section>
  )
}
