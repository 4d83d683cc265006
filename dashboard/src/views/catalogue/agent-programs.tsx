// The agent programs where the service runs, for those who own it; looked up when it is opened.
import { useState } from 'react'
import { listAgentPrograms } from '../../../../src/contract/api/service/agent-programs.ts'
import { useRecord } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { Offered } from '../../session/offered.tsx'

export function AgentPrograms() {
  const [isOpen, setOpen] = useState(false)
  return (
    <Offered to={listAgentPrograms}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Programs that agents can run</summary>
        {isOpen && <Programs />}
      </details>
    </Offered>
  )
}

function Programs() {
  const { data, error, isLoading, refetch } = useRecord('Setting', listAgentPrograms)
  return (
    <div className="card stack">
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {isLoading && <Loading what="the programs" />}
      <ul className="stack">
        {data?.items.map(({ name, ready, version, file, image, problem }) => (
          <li key={name} className="row">
            <Badge tone={ready ? 'good' : 'warn'}>{ready ? 'ready' : 'not ready'}</Badge>
            <strong>
              <Foreign text={name} />
            </strong>
            <Foreign className="soft number" text={version} most={60} />
            <Foreign className="soft mono" text={file ?? image} most={300} />
            <Foreign className="soft" text={problem} most={600} />
          </li>
        ))}
      </ul>
    </div>
  )
}
