// The queue of findings: one after the other is looked at and decided, by keyboard or by hand.
import {
  dismissFinding,
  type Finding,
  findingStates,
  validationStatuses,
} from '../../../../src/contract/api/scans/findings.ts'
import { listFindings } from '../../../../src/contract/api/scans/routes.ts'
import { type RepositoryScanStatus, severities } from '../../../../src/contract/kinds/scans/repository-scan.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { FilterChips } from '../../parts/filter-chips.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { GoneFromQueue, useQueue } from '../../parts/queue.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { useMarked } from '../../parts/use-marked.ts'
import { useMay } from '../../session/caller.ts'
import type { StoredObject } from '../objects/object-kinds.ts'
import { ChosenFindings } from './chosen-findings.tsx'
import { FindingDetail } from './finding-detail.tsx'
import { groupFindings, groupings } from './finding-groups.ts'
import { orderFindings } from './finding-order.ts'
import { FindingsQueue, useFolded } from './findings-queue.tsx'
import type { Place } from './scan-actions.tsx'
import { severityTones } from './severity-tones.ts'
import './findings.css'

type ScanStatus = RepositoryScanStatus | undefined

const groupWords = { file: 'By file', rule: 'By rule' }
const filterNames = { severity: 'Severity', state: 'State', validation: 'Checked', file: 'File' }

/** The findings that the filters of the address let through. */
function useFindings({ namespace, name }: Place) {
  const [parameters] = useParameters()
  const read = (parameter: string) => parameters.get(parameter) ?? undefined
  const query = {
    namespace,
    severity: read('severity'),
    state: read('state'),
    validationStatus: read('validation'),
  } as { namespace: string }
  const findings = useRecordPages('Finding', listFindings, { params: { name }, query })
  const file = read('file')
  const items = (findings.items as Finding[]).filter(
    ({ filePath = '' }) => file === undefined || filePath.includes(file),
  )
  return { ...findings, items: orderFindings(items) }
}

export function FindingsTab({ scan }: { scan: StoredObject }) {
  const { namespace, name } = scan.metadata
  const place = { namespace, name }
  const findings = useFindings(place)
  const [parameters] = useParameters()
  const grouping = parameters.get('group')
  const groups = groupFindings(findings.items, grouping)
  const items = groups?.flatMap((group) => group.findings) ?? findings.items
  const folding = useFolded(groups, grouping)
  const { chosen, isGone, choose, step } = useQueue(items, 'finding', folding.isHidden)
  const { ids, marked, toggleId, all, none } = useMarked(items, ({ id }) => id)
  const mayDismiss = useMay(dismissFinding)
  return (
    <>
      <Counts status={scan.status as ScanStatus} />
      <Filters />
      <ChosenFindings findings={marked} onChooseAll={all} onDone={none} />
      {findings.error !== null && <Failure error={findings.error} retry={findings.reload} />}
      {findings.isLoading && <Loading what="the findings" />}
      {!findings.isLoading && items.length === 0 && findings.error === null && (
        <NoFindings status={scan.status as ScanStatus} />
      )}
      {(chosen !== undefined || isGone) && (
        <div className="triage">
          <FindingsQueue
            findings={items}
            groups={groups}
            folding={folding}
            chosen={chosen}
            onChoose={choose}
            marks={{ ids, toggleId, isOffered: mayDismiss }}
            hasMore={findings.hasMore}
            onMore={findings.loadMore}
          />
          {isGone && <GoneFromQueue onNext={() => step(1)} />}
          {chosen !== undefined && <FindingDetail key={chosen.id} finding={chosen} onDecided={() => step(1)} />}
        </div>
      )}
    </>
  )
}

/** Open findings by severity, each a filter. */
function Counts({ status }: { status: ScanStatus }) {
  const [, change] = useParameters()
  const counts = status?.findingCounts
  if (counts === undefined || counts.total === 0) return null
  return (
    <fieldset className="choices finding-counts">
      <legend className="visually-hidden">Open findings by severity</legend>
      {severities.map((severity) => (
        <Button key={severity} onClick={() => change({ severity, state: 'open' })} disabled={counts[severity] === 0}>
          <Badge tone={severityTones[severity] ?? 'plain'}>{severity}</Badge>
          <span className="number">{counts[severity]}</span>
        </Button>
      ))}
    </fieldset>
  )
}

/** Nothing found is good news only where something was looked at. */
function NothingFound({ status }: { status: ScanStatus }) {
  if (status?.phase === 'Error') {
    return (
      <Empty title="The scan failed: nothing is known of this repository">
        <p>
          <Foreign text={status.message} /> “Runs” tells what happened.
        </p>
      </Empty>
    )
  }
  if (status?.lastSuccessfulScanAt !== undefined && status.phase !== 'Scanning') {
    return (
      <Empty title="Nothing was found">
        <p>
          The last run that succeeded ended <Ago at={status.lastSuccessfulScanAt} />.
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing was found yet">
      <p>Findings appear here part by part while a run goes on. “Runs” tells how far it is.</p>
    </Empty>
  )
}

function Filters() {
  const [parameters, change] = useParameters()
  return (
    <search className="stack">
      <div className="row">
        <Choice name="severity" label="Severity" values={severities} />
        <Choice name="state" label="State" values={findingStates} />
        <Choice name="validation" label="Checked" values={validationStatuses} />
        <input
          className="input short"
          dir="auto"
          type="search"
          aria-label="File"
          placeholder="File"
          value={parameters.get('file') ?? ''}
          onChange={(event) => change({ file: event.target.value })}
        />
        <Choice name="group" label="Group" values={groupings} words={groupWords} none="Not grouped" />
        <span className="soft">
          <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>d</kbd> dismiss, <kbd>v</kbd> check, <kbd>f</kbd> fix,{' '}
          <kbd>p</kbd> pull request, <kbd>r</kbd> reopen
          {parameters.has('group') && (
            <>
              , <kbd>o</kbd> fold the group
            </>
          )}
        </span>
      </div>
      <FilterChips names={filterNames} />
    </search>
  )
}

function NoFindings({ status }: { status: ScanStatus }) {
  const [parameters] = useParameters()
  const isFiltered = Object.keys(filterNames).some((name) => parameters.has(name))
  return isFiltered ? (
    <Empty title="No finding matches">
      <p>Take one of the filters away.</p>
    </Empty>
  ) : (
    <NothingFound status={status} />
  )
}
