// Columns that the lists of several kinds have.
import { Link } from 'react-router'
import { namespaceOf, type Summary } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import type { ObjectPath } from './object-kinds.ts'

type Named = Pick<Summary, 'metadata'>

export function pathOf(path: ObjectPath, object: Named): string {
  return `/${path}/${namespaceOf(object)}/${object.metadata.name}`
}

export function nameColumn(path: ObjectPath): Column<Named> {
  return {
    title: 'Name',
    width: 'minmax(140px, 2fr)',
    cell: (object) => (
      <Link to={pathOf(path, object)}>
        <Foreign text={object.metadata.name} />
      </Link>
    ),
  }
}

/** Absent: the service has not looked yet. */
export function ReadyBadge({ ready }: { ready: boolean | undefined }) {
  if (ready === undefined) return <Badge tone="warn">Pending</Badge>
  return ready ? <Badge>Ready</Badge> : <Badge tone="bad">Not ready</Badge>
}

export const readyColumn: Column<{ status?: { ready?: boolean | undefined } }> = {
  title: 'State',
  width: '104px',
  cell: ({ status }) => <ReadyBadge ready={status?.ready} />,
}

export const namespaceColumn: Column<Named> = { title: 'Namespace', cell: namespaceOf, narrow: 'hidden' }

export const ageColumn: Column<Named> = {
  title: 'Created',
  width: '112px',
  atEnd: true,
  narrow: 'hidden',
  cell: ({ metadata }) => <Ago at={metadata.creationTimestamp} />,
}
