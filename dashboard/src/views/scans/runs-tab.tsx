// The runs of a scan: how far each one came, and what it found and used.
import { listScanRuns } from '../../../../src/contract/api/scans/routes.ts'
import type { ScanRun } from '../../../../src/contract/api/scans/runs.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago, Span } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { type Place, RunButton } from './scan-actions.tsx'

const tones = { pending: 'warn', running: 'busy', succeeded: 'good', failed: 'bad' } as const
const stages = ['start', 'threat-model', 'review', 'done'] as const

export function RunsTab({ namespace, name }: Place) {
  const runs = useRecordPages('Scan', listScanRuns, { params: { name }, query: { namespace } })
  if (runs.error !== null) return <Failure error={runs.error} retry={runs.reload} />
  if (runs.isLoading) return <Loading what="the runs" />
  if (runs.items.length === 0) {
    return (
      <Empty title="No run has begun yet">
        <p>The first one starts by itself unless the scan is suspended. “Run now” starts one at once.</p>
      </Empty>
    )
  }
  return (
    <ol className="stack">
      {runs.items.map((run, index) => (
        <li key={run.id} className="card stack">
          <Run run={run} />
          {index === 0 && run.failedSlices.length > 0 && run.completedAt !== undefined && (
            <div>
              <RunButton namespace={namespace} name={name} failedOnly />
            </div>
          )}
        </li>
      ))}
      {runs.hasMore && <Button onClick={runs.loadMore}>Older</Button>}
    </ol>
  )
}

function Run({ run }: { run: ScanRun }) {
  const { phase, mode, stage } = run
  const isOver = run.completedAt !== undefined
  return (
    <>
      <div className="row">
        <Badge tone={tones[phase]}>{phase}</Badge>
        <span>{mode}</span>
        <Ago at={run.startedAt} />
        <span className="soft">
          took <Span from={run.startedAt} to={run.completedAt} />
        </span>
      </div>
      {!isOver && <Stages stage={stage} />}
      <Facts
        of={[
          ['Parts reviewed', `${run.reviewedSliceCount} of ${run.sliceCount}, ${run.skippedSliceCount} unchanged`],
          ['Failed parts', run.failedSlices.length > 0 && <Foreign text={run.failedSlices.join(', ')} />],
          ['Findings', `${run.acceptedFindings} kept, ${run.droppedFindings} dropped`],
          ['Commit', run.headCommit && <Foreign className="mono" text={run.headCommit.slice(0, 12)} />],
          ['Tokens', run.tokens > 0 && formatCount(run.tokens)],
          ['Why', run.errorMessage && <Foreign text={run.errorMessage} />],
        ]}
      />
    </>
  )
}

function Stages({ stage }: { stage: (typeof stages)[number] }) {
  return (
    <ol className="row" aria-label="Stages">
      {stages.map((one) => (
        <li key={one} aria-current={one === stage ? 'step' : undefined}>
          <Badge tone={one === stage ? 'busy' : stages.indexOf(one) < stages.indexOf(stage) ? 'good' : 'plain'}>
            {one}
          </Badge>
        </li>
      ))}
    </ol>
  )
}
