// The fixes that were written for a finding, the newest first, with what they change and how their tests ended.
import { useState } from 'react'
import { Link } from 'react-router'
import { type Finding, listFindingPatches, type PatchProposal } from '../../../../src/contract/api/scans/findings.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useArtifactText } from '../../data/artifacts.ts'
import { useRecord } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { DiffView } from '../../parts/diff/diff-view.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'

const tones = { pending: 'busy', succeeded: 'good', failed: 'bad', pr_opened: 'good' } as const

export function Patches({ finding: { id, namespace } }: { finding: Finding }) {
  const patches = useRecord('Finding', listFindingPatches, { params: { id }, query: { namespace } })
  const items = patches.data?.items ?? []
  if (patches.error !== null) return <Failure error={patches.error} />
  if (items.length === 0) return null
  return (
    <section className="stack">
      <h3>Fixes</h3>
      {items.map((patch, index) => (
        <Patch key={patch.id} patch={patch} isFirst={index === 0} />
      ))}
    </section>
  )
}

const endings = (commands: PatchProposal['testsRun']) =>
  commands && <Foreign text={commands.map(({ command, exitCode }) => `${command}: ${exitCode}`).join('; ')} />

function Patch({ patch, isFirst }: { patch: PatchProposal; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst)
  return (
    <details open={isOpen} className="stack" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="row">
        <Badge tone={tones[patch.status]}>{patch.status.replaceAll('_', ' ')}</Badge>
        <Foreign className="mono" text={patch.branch} /> <Ago at={patch.createdAt} />
      </summary>
      {isOpen && (
        <div className="stack">
          <PatchFacts patch={patch} />
          <PatchDiff patch={patch} />
        </div>
      )}
    </details>
  )
}

function PatchFacts({ patch }: { patch: PatchProposal }) {
  return (
    <Facts
      of={[
        ['What it does', patch.summary && <Foreign className="prose" text={patch.summary} most={8000} />],
        ['Why it failed', patch.failure && <Foreign text={patch.failure} />],
        ['Changed files', patch.changedFiles && <Foreign className="mono" text={patch.changedFiles.join(', ')} />],
        ['Risk', patch.risk],
        ['Tests before', endings(patch.testsBefore)],
        ['Tests with it', endings(patch.testsRun)],
        ['Pull request', patch.prURL && <OutsideLink key="pr" to={patch.prURL} />],
        [
          'Task',
          <Link key="task" to={`/tasks/${patch.namespace}/${patch.taskName}`}>
            <Foreign text={patch.taskName} />
          </Link>,
        ],
      ]}
    />
  )
}

/** Files of a task are deleted with it. */
function PatchDiff({ patch: { diffArtifact, namespace, taskName } }: { patch: PatchProposal }) {
  const diff = useArtifactText({ namespace, name: taskName }, diffArtifact)
  if (diffArtifact === undefined) return null
  if (isSvcError(diff.error, 'NotFound')) return <p className="soft">Its task was deleted, and the diff with it.</p>
  if (diff.error !== null) return <Failure error={diff.error} retry={() => void diff.refetch()} />
  return diff.data === undefined ? <Loading what="the diff" /> : <DiffView diff={diff.data} />
}
