// What the list of tasks shows of each.
import { Link } from 'react-router'
import { formatMoney } from '../../../src/client/money.ts'
import { namespaceOf, type SummaryOf } from '../data/summary.ts'
import { Badge } from './badge.tsx'
import { Foreign } from './foreign.tsx'
import type { Column } from './table.tsx'
import { Ago, Span, spanOf } from './time.tsx'
import { formatCompact, formatCount } from './usage-facts.tsx'

export type TaskRow = SummaryOf<'Task'>

export const pathOf = (task: TaskRow) => `/tasks/${namespaceOf(task)}/${task.metadata.name}`

/** How long a task took, and how old it is. */
export const timeColumns: Column<TaskRow>[] = [
  {
    title: 'Duration',
    measure: ({ status }) => spanOf(status?.startTime, status?.completionTime),
    width: '92px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Span from={status?.startTime} to={status?.completionTime} />,
  },
  {
    title: 'Created',
    orders: ['-created', 'created'],
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ metadata }) => <Ago at={metadata.creationTimestamp} />,
  },
]

export const taskColumns: Column<TaskRow>[] = [
  {
    title: 'Name',
    orders: ['name'],
    width: 'minmax(160px, 2fr)',
    cell: (task) => (
      <Link to={pathOf(task)}>
        <Foreign text={task.metadata.name} />
      </Link>
    ),
  },
  { title: 'State', width: '112px', cell: ({ status }) => <Badge>{status?.phase ?? 'Pending'}</Badge> },
  { title: 'Type', width: '78px', cell: ({ spec }) => spec?.type, narrow: 'hidden' },
  { title: 'Agent', cell: ({ spec }) => <Foreign text={spec?.agentRef?.name} />, narrow: 'hidden' },
  {
    title: 'Message',
    width: 'minmax(0, 2fr)',
    cell: ({ status }) => <Foreign text={status?.message} />,
    narrow: 'second',
  },
  { title: 'Namespace', cell: (task) => namespaceOf(task), narrow: 'hidden' },
  {
    title: 'Tokens',
    measure: ({ status }) => tokensOf(status?.usage) || undefined,
    width: '62px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Tokens usage={status?.usage} />,
  },
  {
    title: 'Cost',
    measure: ({ status }) => status?.usage?.cost,
    width: '92px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Cost usage={status?.usage} />,
  },
  ...timeColumns,
]

type UsageOf = { usage: NonNullable<TaskRow['status']>['usage'] }

const tokensOf = (usage: UsageOf['usage']) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)

function Tokens({ usage }: UsageOf) {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {}
  const exact = `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`
  if (tokensOf(usage) === 0) return <span className="soft">–</span>
  return (
    <span className="number" title={exact}>
      {formatCompact(tokensOf(usage))}
    </span>
  )
}

function Cost({ usage }: UsageOf) {
  if (usage?.cost === undefined) return <span className="soft">–</span>
  return <Foreign className="number" text={formatMoney(usage.cost, usage.currency)} />
}

/** A first column with a box in each row. */
export function boxColumn(chosen: ReadonlySet<string>, toggle: (task: TaskRow) => void): Column<TaskRow> {
  return {
    title: 'Choose',
    isTitleHidden: true,
    width: '24px',
    narrow: 'first',
    cell: (task) => (
      <input
        type="checkbox"
        className="row-mark"
        aria-label={`Choose ${task.metadata.name}`}
        checked={chosen.has(task.metadata.uid)}
        onChange={() => toggle(task)}
      />
    ),
  }
}
