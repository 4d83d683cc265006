import type { MonitorEvent } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { listMonitorEvents } from '../../../../src/contract/api/monitors/monitors.ts'
import { useRecordPages } from '../../data/records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { spellOut } from '../../parts/visible-text.ts'
import type { Place } from './monitor-actions.tsx'

const columns: Column<MonitorEvent>[] = [
  { title: 'When', width: '112px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { title: 'Of', width: '80px', cell: ({ itemNumber }) => itemNumber && `#${itemNumber}` },
  { title: 'Event', cell: ({ eventType }) => spellOut(eventType), narrow: 'hidden' },
  {
    title: 'In words',
    width: 'minmax(0, 3fr)',
    cell: ({ summary, metadata }) => <Foreign text={summary ?? describe(metadata)} most={400} />,
    narrow: 'second',
  },
]

function describe(metadata: object | undefined): string {
  return Object.entries(metadata ?? {})
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ')
}

export function EventsTab({ namespace, name }: Place) {
  const events = useRecordPages('Monitor', listMonitorEvents, { query: { namespace, name } })
  return (
    <Listing
      label="Events"
      columns={columns}
      list={events}
      keyOf={({ id }) => id}
      fills
      empty={<Empty title="Nothing has happened yet" />}
    />
  )
}
