// Who did what, and what was refused: newest first, with filters in the address.
import { useState } from 'react'
import { type AuditItem, listAudit } from '../../../../src/contract/api/identity/audit.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { AuditDetails } from './audit-details.tsx'
import { AuditFilters } from './audit-filters.tsx'
import './audit.css'

function useAudit() {
  const [parameters] = useParameters()
  const read = (name: string) => parameters.get(name) ?? undefined
  const query = {
    namespace: useScope().namespace,
    caller: read('caller'),
    verb: read('verb'),
    kind: read('kind'),
    allowed: read('outcome') === undefined ? undefined : read('outcome') === 'allowed',
    since: momentOf(read('since')),
    until: momentOf(read('until')),
  }
  // Not by the word of the stream: with `--audit-level all` each reading is a record itself.
  return useRecordPages('AuditLog', listAudit, { query } as never)
}

/** What a control for date and time holds is of this place; the service wants RFC 3339. */
function momentOf(local: string | undefined): string | undefined {
  const time = local === undefined ? Number.NaN : Date.parse(local)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** What was allowed may have failed all the same. */
function toneOf(allowed: boolean, status = 200): Tone {
  if (!allowed) return 'bad'
  return status < 400 ? 'good' : 'warn'
}

function columnsFor(open: (item: AuditItem) => void): Column<AuditItem>[] {
  return [
    { title: 'When', width: '112px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { title: 'Who', cell: ({ caller }) => <Foreign text={caller?.name ?? 'nobody known'} /> },
    {
      title: 'Did',
      width: 'minmax(150px, 1.6fr)',
      narrow: 'second',
      cell: (item) => (
        <button type="button" className="cell-button" onClick={() => open(item)}>
          {item.verb} {item.kind} <Foreign text={item.name} />
        </button>
      ),
    },
    { title: 'Namespace', cell: ({ namespace }) => <Foreign text={namespace} />, narrow: 'hidden' },
    { title: 'How', width: '80px', cell: ({ via }) => via, narrow: 'hidden' },
    {
      title: 'Outcome',
      width: '130px',
      narrow: 'hidden',
      cell: ({ allowed, status }) => (
        <Badge
          tone={toneOf(allowed, status)}
        >{`${allowed ? 'Allowed' : 'Refused'}${status === undefined ? '' : ` ${status}`}`}</Badge>
      ),
    },
  ]
}

export default function AuditPage() {
  const [shown, setShown] = useState<AuditItem>()
  const records = useAudit()
  return (
    <Page title="Audit" actions={<Button onClick={records.reload}>Refresh</Button>}>
      <AuditFilters />
      <Listing
        label="Records of the audit log"
        columns={columnsFor(setShown)}
        list={records as never}
        keyOf={({ id }: AuditItem) => id}
        onOpen={setShown}
        empty={
          <Empty title="Nothing of that sort is recorded">
            <p>Take a filter away, or look at another time. What is only read is not recorded.</p>
          </Empty>
        }
        fills
      />
      {shown !== undefined && <AuditDetails item={shown} onClose={() => setShown(undefined)} />}
    </Page>
  )
}
