// Costs first: per day stacked by group, what the month will come to, a table with shares and a total, and budgets.
import { useState } from 'react'
import { forecastMonth, forecastSince } from '../../../../src/client/forecast.ts'
import { formatMoney } from '../../../../src/client/money.ts'
import { getUsage, getUsageTable, type UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import { api } from '../../data/api.ts'
import { useSum } from '../../data/sums.ts'
import { Button } from '../../parts/button.tsx'
import { Chart, type Tone } from '../../parts/chart.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import { describeLeft, formatCompact, formatCount } from '../../parts/usage-facts.tsx'
import { Budgets } from './budgets.tsx'
import { type Choice, Choices, useChoice } from './choices.tsx'
import { costOf, measureOf, moneyOf, nameOf, type Range, shareOf, sortRows, stackOf, totalOf } from './usage-words.ts'

export default function UsagePage() {
  const choice = useChoice()
  return (
    <Page title="Usage" actions={<Choices />}>
      <Shown choice={choice} />
      <Budgets />
    </Page>
  )
}

/** Asks for what is missing, where something is. */
function Shown({ choice }: { choice: Choice }) {
  const { range, by, label } = choice
  if (range === undefined) {
    return (
      <Empty title="Which days?">
        <p>Write the first and the last as year, month and day, such as 2026-01-31.</p>
      </Empty>
    )
  }
  if (by === 'label' && label === '') {
    return (
      <Empty title="Which label?">
        <p>Write the key of a label that tasks have, such as team.</p>
      </Empty>
    )
  }
  return (
    <>
      <Days {...choice} range={range} />
      <Groups {...choice} range={range} />
    </>
  )
}

type Ranged = Choice & { range: Range }

function useQueryOf({ by, label, range }: Ranged) {
  const { namespace } = useScope()
  return { groupBy: by, ...range, ...(by === 'label' && { label }), ...(namespace && { namespace }) }
}

const tones: Tone[] = ['first', 'second', 'third', 'fourth', 'fifth']

function Days(choice: Ranged) {
  const usage = useSum(['Usage'], getUsage, { query: { ...useQueryOf(choice), per: 'day' } })
  if (usage.error !== null) return <Failure error={usage.error} retry={() => void usage.refetch()} />
  if (usage.data === undefined) return <Loading what="usage" />
  const measure = measureOf(usage.data.items)
  const { starts, series } = stackOf(usage.data.items, choice.range, measure)
  const title = measure.name === 'cost' ? `Cost by day, in ${measure.currency}` : 'Tokens by day'
  return (
    <section className="card" aria-labelledby="days">
      <h2 id="days">{title}</h2>
      <Forecast />
      <Chart
        title={title}
        starts={starts}
        series={series.map(({ name, values }, at) => ({ name, values, tone: tones[at] ?? 'plain' }))}
        format={(value) => (measure.name === 'cost' ? formatMoney(value, measure.currency) : formatCompact(value))}
        formatStart={(start) => start.slice(0, 10)}
      />
    </section>
  )
}

/** Whatever time is looked at: this month. */
function Forecast() {
  const { namespace } = useScope()
  // The same all day, so that what was read is of use.
  const [now] = useState(() => new Date())
  const query = { groupBy: 'day', since: forecastSince(now).toISOString(), ...(namespace && { namespace }) } as const
  const usage = useSum(['Usage'], getUsage, { query })
  const { currency } = measureOf(usage.data?.items ?? [])
  if (currency === undefined) return null
  const days = (usage.data?.items ?? [])
    .filter((item) => item.currency === currency)
    .map((item) => ({ day: item.key, cost: moneyOf(item) }))
  return (
    <p className="soft">
      At the end of the month, as the last seven days were: about{' '}
      <strong className="number">{formatMoney(Number(forecastMonth(days, now).toFixed(2)), currency)}</strong>
    </p>
  )
}

function describeBudgets({ budgets = [] }: UsageItem): string {
  return budgets.map((budget) => (budget.usedUp ? 'nothing' : describeLeft(budget))).join('; ')
}

/** The last one is the total. */
type Row = UsageItem | { total: ReturnType<typeof totalOf> }

function columnsOf(choice: Choice, items: readonly UsageItem[]): Column<Row>[] {
  const measure = measureOf(items)
  const number = (
    title: string,
    read: (row: UsageItem) => number | undefined,
    total?: 'calls' | 'input' | 'output',
  ) => ({
    title,
    atEnd: true,
    narrow: 'hidden' as const,
    cell: (row: Row) => {
      if ('total' in row) return total && <strong className="number">{formatCount(row.total[total])}</strong>
      return <span className="number">{formatCount(read(row) ?? 0)}</span>
    },
  })
  return [
    {
      title: choice.by[0]?.toUpperCase() + choice.by.slice(1),
      width: 'minmax(140px, 2fr)',
      cell: (row) => ('total' in row ? <strong>Total</strong> : <Foreign text={nameOf(row)} />),
    },
    {
      title: 'Cost',
      atEnd: true,
      width: 'minmax(110px, 1.3fr)',
      cell: (row) =>
        'total' in row ? (
          <strong className="number">{row.total.cost}</strong>
        ) : (
          <span className="number">{costOf(row)}</span>
        ),
    },
    {
      title: 'Share',
      atEnd: true,
      width: '84px',
      narrow: 'second',
      cell: (row) => ('total' in row ? null : <span className="number">{shareOf(row, items, measure)}</span>),
    },
    number('Calls', ({ llmCalls }) => llmCalls, 'calls'),
    number('Tokens in', ({ inputTokens, estimatedInputTokens = 0 }) => inputTokens + estimatedInputTokens, 'input'),
    number('Cached', ({ cachedTokens }) => cachedTokens),
    number(
      'Tokens out',
      ({ outputTokens, estimatedOutputTokens = 0 }) => outputTokens + estimatedOutputTokens,
      'output',
    ),
    { title: 'Budget left', narrow: 'second', cell: (row) => ('total' in row ? null : describeBudgets(row)) },
  ]
}

const keyOfRow = (row: Row) =>
  'total' in row ? 'total' : JSON.stringify([row.key, row.caller?.kind, row.caller?.id, row.currency])

function Groups(choice: Ranged) {
  const query = useQueryOf(choice)
  const usage = useSum(['Usage'], getUsage, { query })
  if (usage.error !== null) return null
  if (usage.data === undefined) return <Loading what="usage" />
  const { items } = usage.data
  if (items.length === 0) {
    return (
      <Empty title="Nothing was used in this time">
        <p>What tasks and chats use appears here. Choose another time above.</p>
      </Empty>
    )
  }
  const rows: Row[] = [...sortRows(items, choice.sort, measureOf(items)), { total: totalOf(items) }]
  return (
    <>
      <Table label={`Usage by ${choice.by}`} columns={columnsOf(choice, items)} items={rows} keyOf={keyOfRow} />
      <div>
        <Button onClick={() => void saveTable(query)}>Download as CSV</Button>
      </div>
    </>
  )
}

async function saveTable(query: ReturnType<typeof useQueryOf>): Promise<void> {
  try {
    const response = await api().open(getUsageTable, { query })
    saveFile(`usage-by-${query.groupBy}.csv`, await response.blob())
  } catch (error) {
    sayFailure(error)
  }
}
