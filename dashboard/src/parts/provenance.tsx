// Where something remembered comes from: each part with a way there.
import { Link } from 'react-router'
import type { RecordedCaller } from '../../../src/contract/api/identity/caller.ts'
import { Facts } from './facts.tsx'
import { Foreign } from './foreign.tsx'
import { Ago } from './time.tsx'

type Origin = {
  namespace: string
  taskName?: string | undefined
  sessionName?: string | undefined
  agentName?: string | undefined
  source?: string | undefined
  createdBy?: RecordedCaller | undefined
  createdAt: string
  updatedAt?: string | undefined
}

type Place = { base: string; namespace: string; name: string | undefined }

function Source({ base, namespace, name }: Place) {
  return (
    <Link className="text-link" to={`/${base}/${namespace}/${encodeURIComponent(name ?? '')}`}>
      <Foreign text={name} />
    </Link>
  )
}

export function Provenance({ of: origin }: { of: Origin }) {
  const { namespace, taskName, sessionName, agentName, source, createdBy, createdAt, updatedAt } = origin
  return (
    <Facts
      of={[
        ['Task', taskName && <Source base="tasks" namespace={namespace} name={taskName} />],
        ['Session', sessionName && <Source base="sessions" namespace={namespace} name={sessionName} />],
        ['Agent', agentName && <Source base="agents" namespace={namespace} name={agentName} />],
        ['How', source && <Foreign text={source} />],
        ['Written by', createdBy && <Foreign text={createdBy.name} />],
        ['Created', <Ago key="created" at={createdAt} />],
        ['Changed', updatedAt === createdAt ? undefined : updatedAt && <Ago key="changed" at={updatedAt} />],
      ]}
    />
  )
}
