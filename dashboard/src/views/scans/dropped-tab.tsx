// What models reported and was not kept, and why.
import { Link } from 'react-router'
import { listDroppedFindings } from '../../../../src/contract/api/scans/routes.ts'
import type { DroppedFinding } from '../../../../src/contract/api/scans/runs.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import type { Place } from './scan-actions.tsx'

export function DroppedTab({ namespace, name }: Place) {
  const dropped = useRecordPages('Scan', listDroppedFindings, { params: { name }, query: { namespace } })
  if (dropped.error !== null) return <Failure error={dropped.error} retry={dropped.reload} />
  if (dropped.isLoading) return <Loading what="the dropped findings" />
  if (dropped.items.length === 0) {
    return (
      <Empty title="Nothing was dropped">
        <p>What a model reports is dropped where its evidence does not match the code, or it is the same as another.</p>
      </Empty>
    )
  }
  return (
    <ol className="stack">
      {dropped.items.map((one) => (
        <li key={one.id} className="card stack">
          <Dropped of={one} />
        </li>
      ))}
      {dropped.hasMore && <Button onClick={dropped.loadMore}>Older</Button>}
    </ol>
  )
}

function Dropped({ of: { reason, layer, taskName, namespace, createdAt, sampleJSON } }: { of: DroppedFinding }) {
  return (
    <>
      <div className="row">
        <Badge tone="warn">{layer}</Badge>
        <Ago at={createdAt} />
        <Link className="text-link" to={`/tasks/${namespace}/${taskName}`}>
          Review task
        </Link>
      </div>
      <Foreign text={reason} />
      {sampleJSON !== undefined && (
        <details>
          <summary className="soft">What was reported</summary>
          <ForeignBlock label="What was reported" text={sampleJSON} />
        </details>
      )}
    </>
  )
}
