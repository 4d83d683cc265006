// The reviews of a monitor, the newest first, with what they found.
import { Link } from 'react-router'
import type { MonitorFinding, MonitorReviewRecord } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { dismissMonitorFinding, listMonitorReviews } from '../../../../src/contract/api/monitors/monitors.ts'
import { useChange, useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import { spellOut } from '../../parts/visible-text.ts'
import { Offered } from '../../session/offered.tsx'
import type { Place } from './monitor-actions.tsx'
import { Verdict } from './verdict.tsx'

/** All of the monitor, or those of one pull request. */
export function Reviews({ namespace, name, number }: Place & { number?: number }) {
  const query = { namespace, ...(number !== undefined && { number }) } as never
  const reviews = useRecordPages('Monitor', listMonitorReviews, { params: { name }, query })
  if (reviews.error !== null) return <Failure error={reviews.error} retry={reviews.reload} />
  if (reviews.isLoading) return <Loading what="the reviews" />
  if (reviews.items.length === 0) return <Empty title="Nothing was reviewed yet" />
  return (
    <ol className="stack">
      {reviews.items.map((review) => (
        <li key={review.id} className={number === undefined ? 'card stack' : 'stack'}>
          <Review review={review} place={{ namespace, name }} />
        </li>
      ))}
      {reviews.hasMore && <Button onClick={reviews.loadMore}>Older</Button>}
    </ol>
  )
}

function Review({ review, place }: { review: MonitorReviewRecord; place: Place }) {
  const { number, headSHA, verdict, reason, summary, findings, validation, taskName, createdAt } = review
  return (
    <>
      <div className="row">
        <strong>#{number}</strong> <Foreign className="mono" text={headSHA.slice(0, 10)} /> <Verdict of={verdict} />
        <Ago at={createdAt} />
        <Link to={`/tasks/${place.namespace}/${taskName}`}>Review task</Link>
      </div>
      <Markdown label="Summary" text={summary} />
      {reason !== undefined && <Foreign className="problem" text={reason} />}
      <ul className="stack">
        {findings.map((finding) => (
          <li key={finding.id}>
            <FindingView finding={finding} number={number} place={place} />
          </li>
        ))}
      </ul>
      <p className="soft">
        Checks: {spellOut(validation.status)} <Foreign text={validation.reason} />
      </p>
    </>
  )
}

function FindingView({ finding, number, place }: { finding: MonitorFinding; number: number; place: Place }) {
  const { namespace, name } = place
  const isDismissed = finding.state === 'dismissed'
  const change = useChange(dismissMonitorFinding, 'Monitor')
  const toggle = () =>
    change.mutate(
      {
        params: { name, number: String(number), id: finding.id } as never,
        query: { namespace },
        body: { dismissed: !isDismissed },
      },
      { onError: sayFailure },
    )
  return (
    <details className="stack">
      <summary className="row">
        <Badge tone={finding.priority === 'P0' || finding.priority === 'P1' ? 'bad' : 'warn'}>{finding.priority}</Badge>
        <Foreign text={finding.title} most={300} />
        {finding.file !== undefined && <Foreign className="mono soft" text={`${finding.file}:${finding.line ?? ''}`} />}
        {isDismissed && <Badge>dismissed</Badge>}
      </summary>
      <Markdown label="Finding" text={finding.body} headings={3} />
      <Markdown label="Recommendation" text={finding.recommendation ?? ''} headings={3} />
      <div>
        <Offered to={dismissMonitorFinding}>
          <Button busy={change.isPending} onClick={toggle}>
            {isDismissed ? 'Take it up again' : 'Dismiss: no later review shows it'}
          </Button>
        </Offered>
      </div>
    </details>
  )
}
