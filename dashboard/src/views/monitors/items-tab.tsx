// The pull requests that a monitor knows: how far each one is, and why not further. One of them is opened beside the others.
import { Link } from 'react-router'
import { itemVerdicts, type MonitorItem } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { listMonitorItems } from '../../../../src/contract/api/monitors/monitors.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { useOwnPath, useParameters } from '../../parts/scope.ts'
import { Beside } from '../../parts/side-panel.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import type { StoredObject } from '../objects/object-kinds.ts'
import { PostButton, RunButton } from './monitor-actions.tsx'
import { hasReviewToPost } from './posting.ts'
import { explainPublishing, explainSkip } from './reasons.ts'
import { Reviews } from './reviews-tab.tsx'
import { Verdict } from './verdict.tsx'

function PullLink({ item: { itemKey, number, title } }: { item: MonitorItem }) {
  const pathWith = useOwnPath()
  return (
    <Link to={pathWith({ pull: itemKey })} replace>
      <strong>#{number}</strong> <Foreign text={title} most={300} />
    </Link>
  )
}

const columns: Column<MonitorItem>[] = [
  { title: 'Pull request', width: 'minmax(160px, 2fr)', cell: (item) => <PullLink item={item} /> },
  { title: 'Verdict', width: '150px', cell: ({ lastVerdict }) => <Verdict of={lastVerdict} /> },
  { title: 'Author', cell: ({ author }) => <Foreign text={author} />, narrow: 'hidden' },
  {
    title: 'Why not further',
    width: 'minmax(0, 2fr)',
    cell: ({ skipReason, lastPublishReason }) => (
      <Foreign
        text={
          (skipReason && explainSkip(skipReason)) ?? (lastPublishReason && explainPublishing(lastPublishReason)) ?? ''
        }
      />
    ),
    narrow: 'second',
  },
  { title: 'Seen', width: '112px', atEnd: true, narrow: 'hidden', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
]

/** The panel says the rest. */
const columnsBeside = columns.filter(({ title }) => ['Pull request', 'Verdict', 'Seen'].includes(title))

export function ItemsTab({ monitor }: { monitor: StoredObject }) {
  const { namespace, name } = monitor.metadata
  const [parameters, change] = useParameters()
  const filter = { state: parameters.get('state') ?? undefined, verdict: parameters.get('verdict') ?? undefined }
  const items = useRecordPages('Monitor', listMonitorItems, { params: { name }, query: { namespace, ...filter } })
  const open = items.items.find(({ itemKey }) => itemKey === parameters.get('pull'))
  return (
    <>
      <search className="row">
        <Choice name="state" label="State" values={['open', 'out_of_scope']} />
        <Choice name="verdict" label="Verdict" values={itemVerdicts} />
      </search>
      <Beside
        label={`Pull request ${open?.number ?? ''}`}
        panel={open && <Item key={open.itemKey} item={open} monitor={monitor} />}
        onClose={() => change({ pull: '' })}
      >
        <Listing
          label="Pull requests"
          columns={open === undefined ? columns : columnsBeside}
          list={items}
          keyOf={({ itemKey }) => itemKey}
          openKey={open?.itemKey}
          onOpen={({ itemKey }) => change({ pull: itemKey })}
          fills
          empty={
            <Empty title="No pull request here">
              <p>A run looks for those that are open. “Run now” starts one.</p>
            </Empty>
          }
        />
      </Beside>
    </>
  )
}

function Item({ item, monitor }: { item: MonitorItem; monitor: StoredObject }) {
  const { namespace, name } = monitor.metadata
  const monitorKey = { namespace, name }
  const { number, title, author, url, labels, draft, headSHA, state } = item
  return (
    <>
      <h2>
        <OutsideLink to={url}>{`#${number}`}</OutsideLink> <Foreign text={title} most={300} />
      </h2>
      <div className="row">
        <Verdict of={item.lastVerdict} />
        {state !== 'open' && <Badge>no longer looked at</Badge>}
        {draft && <Badge tone="warn">draft</Badge>}
        {labels.map((label) => (
          <span key={label} className="badge">
            <Foreign text={label} most={60} />
          </span>
        ))}
      </div>
      <p className="row soft">
        <Foreign text={author} /> <Foreign className="mono" text={headSHA?.slice(0, 10)} />
        <span>
          seen <Ago at={item.lastSeenAt} />
        </span>
      </p>
      <Reasons item={item} />
      {state === 'open' && (
        <div className="row">
          <RunButton {...monitorKey} number={number} />
          {hasReviewToPost(item, monitor.spec) && <PostButton {...monitorKey} number={number} />}
        </div>
      )}
      <Reviews {...monitorKey} number={number} />
    </>
  )
}

/** Why it was skipped, and what became of the posting of its review. */
function Reasons({ item: { skipReason, lastPublishReason, lastPublishURL } }: { item: MonitorItem }) {
  return (
    <>
      {skipReason !== undefined && (
        <p>
          <strong>Why skipped:</strong> <Foreign text={explainSkip(skipReason)} />
        </p>
      )}
      {lastPublishReason !== undefined && (
        <p>
          <strong>Why not posted:</strong> <Foreign text={explainPublishing(lastPublishReason)} />
        </p>
      )}
      {lastPublishURL !== undefined && (
        <p>
          Posted at <OutsideLink to={lastPublishURL} />
        </p>
      )}
    </>
  )
}
