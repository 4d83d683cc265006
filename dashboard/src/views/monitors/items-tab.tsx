// The pull requests that a monitor knows: how far each one is, and why not further.
import { itemVerdicts, type MonitorItem } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { listMonitorItems } from '../../../../src/contract/api/monitors/monitors.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import type { StoredObject } from '../objects/object-kinds.ts'
import { PostButton, RunButton } from './monitor-actions.tsx'
import { hasReviewToPost } from './posting.ts'
import { explainPublishing, explainSkip } from './reasons.ts'
import { Verdict } from './verdict.tsx'

export function ItemsTab({ monitor }: { monitor: StoredObject }) {
  const { namespace, name } = monitor.metadata
  const [parameters] = useParameters()
  const filter = { state: parameters.get('state') ?? undefined, verdict: parameters.get('verdict') ?? undefined }
  const items = useRecordPages('Monitor', listMonitorItems, { params: { name }, query: { namespace, ...filter } })
  return (
    <div className="stack">
      <search className="row">
        <Choice name="state" label="State" values={['open', 'out_of_scope']} />
        <Choice name="verdict" label="Verdict" values={itemVerdicts} />
      </search>
      {items.error !== null && <Failure error={items.error} retry={items.reload} />}
      {items.isLoading && <Loading what="the pull requests" />}
      {!items.isLoading && items.items.length === 0 && items.error === null && (
        <Empty title="No pull request here">
          <p>A run looks for those that are open. “Run now” starts one.</p>
        </Empty>
      )}
      <ul className="stack">
        {items.items.map((item) => (
          <li key={item.itemKey} className="card stack">
            <Item item={item} monitor={monitor} />
          </li>
        ))}
      </ul>
      {items.hasMore && <Button onClick={items.loadMore}>More</Button>}
    </div>
  )
}

function Item({ item, monitor }: { item: MonitorItem; monitor: StoredObject }) {
  const { namespace, name } = monitor.metadata
  const place = { namespace, name }
  const { number, title, author, url, labels, draft, headSHA, state } = item
  return (
    <>
      <div className="row">
        <strong>
          <OutsideLink to={url}>{`#${number}`}</OutsideLink> <Foreign text={title} most={300} />
        </strong>
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
          <RunButton {...place} number={number} />
          {hasReviewToPost(item, monitor.spec) && <PostButton {...place} number={number} />}
        </div>
      )}
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
