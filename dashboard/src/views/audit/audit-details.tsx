import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { AuditItem } from '../../../../src/contract/api/identity/audit.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { useParameters } from '../../parts/scope.ts'

type DetailsProps = { item: AuditItem; onClose: () => void }

/** Text of a request: whoever made it chose it. */
function text(value: string | undefined): ReactNode {
  return value && <Foreign text={value} />
}

export function AuditDetails({ item, onClose }: DetailsProps) {
  const [, change] = useParameters()
  const { caller, namespace = 'default', session } = item
  const callerId = caller?.id ?? caller?.name
  function filter(): void {
    change({ caller: callerId })
    onClose()
  }
  return (
    <Dialog title={`Record ${item.id}`} onClose={onClose}>
      <Facts
        of={[
          ['When', new Date(item.createdAt).toLocaleString()],
          ['Who', text(caller?.name)],
          ['Their id', text(caller?.id)],
          ['Known by', text(caller?.kind)],
          ['From', text(item.address)],
          ['How', item.via],
          ['Did', `${item.verb} ${item.kind ?? ''}`],
          ['Name', item.name && <ObjectLink kind={item.kind ?? ''} namespace={namespace} name={item.name} />],
          ['Namespace', text(item.namespace)],
          ['Route', text(item.route)],
          ['Outcome', `${item.allowed ? 'allowed' : 'refused'}${item.status === undefined ? '' : `, ${item.status}`}`],
          ['Request', text(item.requestId)],
          ['Task', text(item.taskUid)],
          [
            'Chat',
            session && (
              <Link className="text-link" to={`/sessions/${namespace}/${encodeURIComponent(session)}`}>
                <Foreign text={session} />
              </Link>
            ),
          ],
        ]}
      />
      <div className="dialog-end">
        {callerId !== undefined && <Button onClick={filter}>Only this caller</Button>}
        <Button look="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
