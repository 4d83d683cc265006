// The tasks that work together, drawn as a tree while they go on.
import { type KeyboardEvent, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'
import { namespaceOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { isRightToLeft } from '../../parts/direction.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Span } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { FamilyMessages } from './family-messages.tsx'
import { costOf, describeFamily, listShown, stepInTree, tokensOf } from './family-words.ts'
import { taskPath } from './place.ts'
import { TimelineTab } from './timeline-tab.tsx'
import { type FamilyPlace, type FamilyTask, useFamily } from './use-family.ts'
import './family-tab.css'

const placeOf = (task: FamilyTask) => ({ namespace: namespaceOf(task), name: task.metadata.name })

export function FamilyTab({ task }: { task: TaskDetail }) {
  const { places, isLoading, error } = useFamily(task)
  const [parameters, change] = useParameters()
  if (error !== null) return <Failure error={error} />
  if (isLoading) return <Loading what="the family" />
  const chosen = parameters.get('node') ?? task.metadata.name
  const isAlone = places.length === 1
  return (
    <>
      <p className="soft" role="status">
        {describeFamily(places)}
        {isAlone && '. It has made no other tasks.'}
      </p>
      <Tree
        places={places}
        chosen={Math.max(
          0,
          places.findIndex(({ task: one }) => one.metadata.name === chosen),
        )}
        own={task.metadata.uid}
        onChoose={(name) => change({ node: name })}
      />
      <p className="soft">
        Arrow keys walk and fold the tree; <kbd>Enter</kbd> opens the task.
      </p>
      <FamilyMessages places={places} />
      <ChosenTask place={places.find(({ task: one }) => one.metadata.name === chosen)} />
    </>
  )
}

const mirrored: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** Branches open to the side that one reads to. */
const keyOfReader = (key: string) => (isRightToLeft() ? mirrored[key] : undefined) ?? key

function ChosenTask({ place }: { place: FamilyPlace | undefined }) {
  if (place === undefined) return null
  const at = placeOf(place.task)
  return (
    <section className="stack" aria-labelledby="chosen-task">
      <h2 id="chosen-task">
        What happens in{' '}
        <Link to={taskPath(at)}>
          <Foreign text={at.name} />
        </Link>
      </h2>
      <TimelineTab key={at.name} place={at} />
    </section>
  )
}

type TreeProps = { places: FamilyPlace[]; chosen: number; own: string; onChoose: (name: string) => void }

function Tree({ places, chosen, own, onChoose }: TreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const navigate = useNavigate()
  const tree = useRef<HTMLDivElement>(null)
  const shown = listShown(places, closed)
  const uid = places[chosen]?.task.metadata.uid
  const at = Math.max(
    0,
    shown.findIndex(({ task }) => task.metadata.uid === uid),
  )

  function fold(one: string, isClosed: boolean): void {
    const next = new Set(closed)
    if (isClosed) next.add(one)
    else next.delete(one)
    setClosed(next)
  }

  function goTo(index: number): void {
    const place = shown[index]
    if (place === undefined) return
    onChoose(place.task.metadata.name)
    tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[index]?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    const here = shown[at]
    if (event.key === 'Enter' && here !== undefined) return void navigate(taskPath(placeOf(here.task)))
    const step = stepInTree(keyOfReader(event.key), at, shown, closed)
    if (step === undefined) return
    event.preventDefault()
    if ('to' in step) goTo(step.to)
    else if ('open' in step) fold(step.open, false)
    else fold(step.close, true)
  }

  return (
    <div ref={tree} className="family" role="tree" aria-label="Family of the task" onKeyDown={onKeyDown}>
      {shown.map((place, index) => {
        const { metadata } = place.task
        const hasChildren = closed.has(metadata.uid) || (shown[index + 1]?.level ?? 0) > place.level
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
          <div
            key={metadata.uid}
            role="treeitem"
            aria-level={place.level}
            aria-posinset={place.position}
            aria-setsize={place.siblings}
            aria-selected={index === at}
            aria-current={metadata.uid === own ? 'page' : undefined}
            aria-expanded={hasChildren ? !closed.has(metadata.uid) : undefined}
            tabIndex={index === at ? 0 : -1}
            onClick={() => goTo(index)}
          >
            <Node place={place} isClosed={closed.has(metadata.uid)} onFold={hasChildren ? fold : undefined} />
          </div>
        )
      })}
    </div>
  )
}

type NodeProps = {
  place: FamilyPlace
  isClosed: boolean
  onFold: ((uid: string, isClosed: boolean) => void) | undefined
}

function Node({ place: { task, level }, isClosed, onFold }: NodeProps) {
  const { metadata, spec, status } = task
  const isOver = terminalPhases.some((phase) => phase === status?.phase)
  const tokens = tokensOf(task)
  return (
    <>
      <span className="family-name" style={{ paddingInlineStart: `${(level - 1) * 22}px` }}>
        <span
          className="family-fold"
          data-closed={isClosed}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation()
            onFold?.(metadata.uid, !isClosed)
          }}
        >
          {onFold === undefined ? '·' : isClosed ? '▸' : '▾'}
        </span>
        <Foreign text={metadata.name} />
        <Foreign className="soft" text={spec?.agentRef?.name} />
      </span>
      <Badge>{status?.phase ?? 'Pending'}</Badge>
      <span className="number family-number">
        <Span from={status?.firstStartTime ?? status?.startTime} to={isOver ? status?.completionTime : undefined} />
      </span>
      <span className="number family-number">{tokens > 0 && `${formatCount(tokens)} tokens`}</span>
      <span className="number family-number">{costOf(task)}</span>
      <Foreign className="soft family-message" text={status?.message} most={200} />
    </>
  )
}
