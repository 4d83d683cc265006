// The list beside the finding that is looked at: one after the other, or in groups that fold.
import { useEffect, useId, useRef, useState } from 'react'
import type { Finding } from '../../../../src/contract/api/scans/findings.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { count } from '../../parts/count.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useKeys } from '../../parts/keys.ts'
import { visible } from '../../parts/visible-text.ts'
import type { FindingGroup } from './finding-groups.ts'
import { severityTones } from './severity-tones.ts'

type Marks = { ids: ReadonlySet<string>; toggleId: (id: string) => void; isOffered: boolean }

type EntriesProps = {
  findings: readonly Finding[]
  chosen: Finding | undefined
  onChoose: (finding: Finding) => void
  marks: Marks
}

/** Groups whose findings are not shown, by their names. */
export function useFolded(groups: readonly FindingGroup<Finding>[] | undefined, grouping: string | null) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const keyOf = (name: string) => `${grouping} ${name}`
  const isFolded = (name: string) => folded.has(keyOf(name))
  const groupOf = (finding: Finding) => groups?.find(({ findings }) => findings.includes(finding))
  const toggle = (name: string) => {
    const others = [...folded].filter((one) => one !== keyOf(name))
    setFolded(new Set(isFolded(name) ? others : [...others, keyOf(name)]))
  }
  return {
    isFolded,
    isHidden: (finding: Finding) => isFolded(groupOf(finding)?.name ?? ''),
    toggle,
    toggleGroupOf: (finding: Finding) => toggle(groupOf(finding)?.name ?? ''),
    foldAll: () => setFolded(new Set(groups?.map(({ name }) => keyOf(name)))),
    unfoldAll: () => setFolded(new Set()),
  }
}

type Folding = ReturnType<typeof useFolded>

type QueueProps = EntriesProps & {
  groups: FindingGroup<Finding>[] | undefined
  folding: Folding
  hasMore: boolean
  onMore: () => void
}

export function FindingsQueue({ groups, folding, hasMore, onMore, ...entries }: QueueProps) {
  const { chosen } = entries
  useKeys({ o: () => chosen !== undefined && folding.toggleGroupOf(chosen) })
  return (
    <nav aria-label="Findings" className="queue">
      {groups === undefined ? (
        <Entries {...entries} />
      ) : (
        <>
          <div className="row group-bar">
            <span className="soft">{count(groups.length, 'group')}</span>
            <span className="grow" />
            <Button look="plain" className="small" onClick={folding.foldAll}>
              Fold all
            </Button>
            <Button look="plain" className="small" onClick={folding.unfoldAll}>
              Unfold all
            </Button>
          </div>
          {groups.map((group) => (
            <Group key={group.name} {...entries} group={group} folding={folding} />
          ))}
        </>
      )}
      {hasMore && (
        <p className="row queue-end">
          <Button onClick={onMore}>More</Button>
          <span className="soft">{count(entries.findings.length, 'finding')} read so far</span>
        </p>
      )}
    </nav>
  )
}

function Group({ group, folding, ...entries }: EntriesProps & { group: FindingGroup<Finding>; folding: Folding }) {
  const id = useId()
  const { name, findings } = group
  const isOpen = !folding.isFolded(name)
  const hasChosen = entries.chosen !== undefined && findings.includes(entries.chosen)
  const { marks } = entries
  const unmarked = findings.filter((finding) => !marks.ids.has(finding.id))
  const markAll = () => {
    for (const finding of unmarked.length > 0 ? unmarked : findings) marks.toggleId(finding.id)
  }
  return (
    <section aria-labelledby={id}>
      <div className="group-head" data-chosen={hasChosen && !isOpen}>
        {marks.isOffered && (
          <input
            type="checkbox"
            aria-label={`Choose all of ${visible(name.slice(0, 120))}`}
            checked={unmarked.length === 0}
            onChange={markAll}
          />
        )}
        <button id={id} type="button" aria-expanded={isOpen} onClick={() => folding.toggle(name)}>
          <span className="fold-mark" aria-hidden="true" />
          <Foreign className="mono cut" text={name} most={200} />
          <span className="number">
            {findings.length}
            <span className="visually-hidden"> {findings.length === 1 ? 'finding' : 'findings'}</span>
          </span>
        </button>
      </div>
      {isOpen && <Entries {...entries} findings={findings} />}
    </section>
  )
}

function Entries({ findings, chosen, onChoose, marks }: EntriesProps) {
  return (
    <ol>
      {findings.map((finding) => (
        <li key={finding.id} className="finding-entry">
          {marks.isOffered && (
            <input
              type="checkbox"
              aria-label={`Choose ${visible(finding.title.slice(0, 120))}`}
              checked={marks.ids.has(finding.id)}
              onChange={() => marks.toggleId(finding.id)}
            />
          )}
          <Entry finding={finding} isChosen={finding === chosen} onChoose={() => onChoose(finding)} />
        </li>
      ))}
    </ol>
  )
}

type EntryProps = { finding: Finding; isChosen: boolean; onChoose: () => void }

function Entry({ finding, isChosen, onChoose }: EntryProps) {
  const element = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <button
      ref={element}
      type="button"
      className="queue-entry"
      aria-current={isChosen ? 'true' : undefined}
      onClick={onChoose}
    >
      <span className="row">
        <Badge tone={severityTones[finding.severity] ?? 'plain'}>{finding.severity}</Badge>
        <span className="soft">{finding.state.replaceAll('_', ' ')}</span>
      </span>
      <Foreign text={finding.title} most={200} />
      <Foreign className="soft mono" text={finding.filePath} most={200} />
    </button>
  )
}
