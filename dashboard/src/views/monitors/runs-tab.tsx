import type { MonitorRun } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { listMonitorRuns } from '../../../../src/contract/api/monitors/monitors.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago, Span, spanOf } from '../../parts/time.tsx'
import { spellOut } from '../../parts/visible-text.ts'
import type { Place } from './monitor-actions.tsx'

const tones: Record<string, Tone> = { queued: 'warn', running: 'busy', succeeded: 'good', failed: 'bad' }

const columns: Column<MonitorRun>[] = [
  { title: 'State', width: '112px', cell: ({ phase }) => <Badge tone={tones[phase] ?? 'plain'}>{phase}</Badge> },
  { title: 'Begun by', cell: ({ trigger }) => spellOut(trigger) },
  { title: 'Of', width: '90px', cell: ({ targetNumber }) => targetNumber && `#${targetNumber}`, narrow: 'hidden' },
  { title: 'Reviews', width: '84px', atEnd: true, cell: ({ createdTaskCount }) => createdTaskCount, narrow: 'hidden' },
  { title: 'Skipped', width: '84px', atEnd: true, cell: ({ skippedCount }) => skippedCount, narrow: 'hidden' },
  { title: 'Why', width: 'minmax(0, 2fr)', cell: ({ error }) => <Foreign text={error} />, narrow: 'second' },
  {
    title: 'Duration',
    measure: ({ startedAt, completedAt }) => spanOf(startedAt, completedAt),
    width: '92px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ startedAt, completedAt }) => <Span from={startedAt} to={completedAt} />,
  },
  { title: 'Queued', width: '112px', atEnd: true, narrow: 'hidden', cell: ({ queuedAt }) => <Ago at={queuedAt} /> },
]

export function RunsTab({ namespace, name }: Place) {
  const runs = useRecordPages('Monitor', listMonitorRuns, { params: { name }, query: { namespace } })
  return (
    <Listing
      label="Runs"
      columns={columns}
      list={runs}
      keyOf={({ id }) => id}
      fills
      empty={
        <Empty title="There was no run yet">
          <p>“Run now” starts one; a schedule or events of the code host start others.</p>
        </Empty>
      }
    />
  )
}
