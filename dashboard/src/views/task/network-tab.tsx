// What the programs of the task may reach, who says so, and what they reached and were refused.
import { getTaskNetwork, type TaskHost, type TaskNetwork } from '../../../../src/contract/api/tasks/network.ts'
import { writeHostName } from '../../../../src/contract/values/network-names.ts'
import { describeBytes } from '../../../../src/lib/bytes.ts'
import { useObjectRecord } from '../../data/records.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { YamlBlock } from '../../parts/yaml-block.tsx'
import type { TaskPlace } from './place.ts'

const sources: Record<string, string> = {
  task: 'the task itself',
  agent: 'its agent',
  namespace: 'its namespace',
  service: 'the service',
}

const others: Record<string, string> = {
  refuse: 'refused',
  ask: 'a person is asked',
  allow: 'allowed, and counted',
}

const columns: Column<TaskHost>[] = [
  {
    title: 'Host',
    width: 'minmax(140px, 2fr)',
    cell: (item) => (item.host === '*' ? 'all others' : <Foreign text={writeHostName(item)} most={300} />),
  },
  { title: 'Connections', width: '100px', atEnd: true, narrow: 'hidden', cell: ({ connections }) => connections },
  { title: 'Sent', width: '80px', atEnd: true, narrow: 'hidden', cell: ({ sent }) => describeBytes(sent) },
  { title: 'Received', width: '90px', atEnd: true, narrow: 'hidden', cell: ({ received }) => describeBytes(received) },
  {
    title: 'Refused',
    width: '90px',
    atEnd: true,
    cell: ({ refused }) =>
      refused > 0 && (
        <span className="badge" data-tone="bad">
          {refused}
        </span>
      ),
  },
  {
    title: 'Allowed by',
    width: 'minmax(90px, 1fr)',
    narrow: 'second',
    cell: ({ allowedBy }) =>
      allowedBy === undefined ? <span className="soft">nothing</span> : <Foreign text={allowedBy} most={300} />,
  },
  { title: 'Last', width: '110px', atEnd: true, narrow: 'hidden', cell: ({ lastAt }) => <Ago at={lastAt} /> },
]

function NetworkFacts({ network }: { network: NonNullable<TaskNetwork['network']> }) {
  const { allow, onUnknown, from, narrowedBy, within } = network
  return (
    <Facts
      of={[
        ['Allowed', <Foreign key="allowed" text={allow.join(', ') || 'nothing'} />],
        ['Other hosts', <Foreign key="others" text={others[onUnknown] ?? onUnknown} />],
        ['Narrowed to', within && <Foreign key="within" text={within.join(', ') || 'nothing'} />],
        ['Said by', <Foreign key="from" text={sources[from] ?? from} />],
        ['Narrowed by', narrowedBy && <Foreign key="by" text={narrowedBy.task ?? 'a task above it that is gone'} />],
      ]}
    />
  )
}

export function NetworkTab({ place }: { place: TaskPlace }) {
  const { data, error, refetch } = useObjectRecord('Task', getTaskNetwork, place)
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (data === undefined) return <Loading what="the network" />
  const { network, hosts, learned } = data
  return (
    <div className="stack">
      {network !== undefined && <NetworkFacts network={network} />}
      {hosts.length === 0 ? (
        <Empty title="It has asked for no host">
          <p>Hosts that its programs reach or are refused appear here, unless its network is open.</p>
        </Empty>
      ) : (
        <Table label="Hosts" columns={columns} items={hosts} keyOf={writeHostName} />
      )}
      {learned.length > 0 && (
        <details>
          <summary>A network that allows what it reached and asked for</summary>
          <YamlBlock label="spec.network" value={learnedSpec(learned)} />
        </details>
      )}
    </div>
  )
}

function learnedSpec(allow: string[]): object {
  return { spec: { network: { allow, onUnknown: 'refuse' } } }
}
