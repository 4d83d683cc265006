// The parts that the repository is reviewed in: what belongs to each, and what became of it in its last review.
import { Link } from 'react-router'
import { listReviewSlices } from '../../../../src/contract/api/scans/routes.ts'
import { type ReviewSlice, type SliceFile, sliceStatuses } from '../../../../src/contract/api/scans/runs.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { count } from '../../parts/count.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import type { Place } from './scan-actions.tsx'

const tones: Record<ReviewSlice['status'], Tone> = {
  pending: 'warn',
  reviewed: 'good',
  failed: 'bad',
  skipped: 'plain',
}

export function SlicesTab({ namespace, name }: Place) {
  const [parameters] = useParameters()
  const status = sliceStatuses.find((one) => one === parameters.get('status'))
  const slices = useRecordPages('Scan', listReviewSlices, { params: { name }, query: { namespace, status } })
  return (
    <>
      <search className="row">
        <Choice name="status" label="State" values={sliceStatuses} />
      </search>
      {slices.error !== null && <Failure error={slices.error} retry={slices.reload} />}
      {slices.isLoading && <Loading what="the parts" />}
      {slices.error === null && !slices.isLoading && slices.items.length === 0 && (
        <Empty title={status === undefined ? 'The repository was not cut into parts yet' : 'No part matches'}>
          <p>A run begins with it: each part is reviewed by a task of its own.</p>
        </Empty>
      )}
      <ol className="stack">
        {slices.items.map((slice) => (
          <li key={slice.id} className="card stack">
            <Slice of={slice} />
          </li>
        ))}
      </ol>
      {slices.hasMore && <Button onClick={slices.loadMore}>More</Button>}
    </>
  )
}

function Slice({ of: slice }: { of: ReviewSlice }) {
  const { title, summary, status, kind, lastReviewedAt, taskName, namespace, error, ownedFiles } = slice
  return (
    <>
      <div className="row">
        <Badge tone={tones[status]}>{status}</Badge>
        <strong>
          <Foreign text={title} most={300} />
        </strong>
        <span className="soft">{kind}</span>
        {lastReviewedAt !== undefined && (
          <span className="soft">
            reviewed <Ago at={lastReviewedAt} />
          </span>
        )}
        {taskName !== undefined && (
          <Link className="text-link" to={`/tasks/${namespace}/${taskName}`}>
            Review task
          </Link>
        )}
      </div>
      <Facts
        of={[
          ['Message', error && <Foreign text={error} />],
          ['What lies in it', summary && <Foreign text={summary} />],
          ['Crosses', slice.trustBoundaries && <Foreign text={slice.trustBoundaries.join(', ')} />],
          ['Tags', slice.tags && <Foreign text={slice.tags.join(', ')} />],
        ]}
      />
      <details>
        <summary>{count(ownedFiles.length, 'file')}</summary>
        <Files title="Reviewed" of={ownedFiles} />
        <Files title="Shown beside them" of={slice.contextFiles ?? []} />
      </details>
    </>
  )
}

function Files({ title, of }: { title: string; of: readonly SliceFile[] }) {
  if (of.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {of.map(({ path, reason, startLine = '' }) => (
          <li key={`${path} ${startLine}`}>
            <Foreign className="mono" text={path} /> <Foreign className="soft" text={reason} most={300} />
          </li>
        ))}
      </ul>
    </section>
  )
}
