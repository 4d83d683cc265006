// Tokens and cost: by day in a chart, and by whatever one asks for in a table; and what is left of budgets.
import { getUsage, type usageGroups } from '../../../../src/contract/api/budgets/usage.ts'
import { useSum } from '../../data/sums.ts'
import { Chart } from '../../parts/chart.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { describeLeft, formatCount } from '../../parts/usage-facts.tsx'
import { Budgets } from './budgets.tsx'
import { costOf, daysOf, periods, sinceOf, type UsageRow } from './usage-words.ts'

type Group = (typeof usageGroups)[number]

const groups: readonly Group[] = ['agent', 'caller', 'model', 'provider', 'namespace', 'task', 'session', 'day']

export default function UsagePage() {
  return (
    <Page title="Usage" actions={<Choices />}>
      <Days />
      <Groups />
      <Budgets />
    </Page>
  )
}

function useChoices() {
  const [parameters, change] = useParameters()
  const by = groups.find((group) => group === parameters.get('by')) ?? 'agent'
  const period = periods.find(({ name }) => name === parameters.get('period')) ?? periods[1]
  return { by, period, change }
}

function Choices() {
  const { by, period, change } = useChoices()
  return (
    <>
      <label className="row">
        <span className="soft">By</span>
        <select className="input" value={by} onChange={(event) => change({ by: event.target.value })}>
          {groups.map((group) => (
            <option key={group}>{group}</option>
          ))}
        </select>
      </label>
      <label className="row">
        <span className="soft">Of the last</span>
        <select className="input" value={period?.name} onChange={(event) => change({ period: event.target.value })}>
          {periods.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

function useUsage(groupBy: Group, days: number) {
  const { namespace } = useScope()
  const query = { groupBy, since: sinceOf(days), ...(namespace && { namespace }) }
  return useSum(['Usage'], getUsage, { query })
}

function Days() {
  const { period } = useChoices()
  const days = period?.days ?? 30
  const usage = useUsage('day', days)
  if (usage.error !== null) return <Failure error={usage.error} retry={() => void usage.refetch()} />
  if (usage.data === undefined) return <Loading what="usage" />
  const shown = daysOf(usage.data.items, days)
  return (
    <section className="card" aria-labelledby="tokens">
      <h2 id="tokens">Tokens by day</h2>
      <Chart
        title="Tokens by day"
        starts={shown.map(({ start }) => start)}
        series={[
          { name: 'Tokens in', tone: 'busy', values: shown.map(({ input }) => input) },
          { name: 'Tokens out', tone: 'good', values: shown.map(({ output }) => output) },
        ]}
        format={formatCount}
        formatStart={(start) => start.slice(0, 10)}
      />
    </section>
  )
}

function describeBudgets({ budgets = [] }: UsageRow): string {
  return budgets.map((budget) => (budget.usedUp ? 'nothing' : describeLeft(budget))).join('; ')
}

function columnsOf(by: Group): Column<UsageRow>[] {
  const number = (title: string, read: (row: UsageRow) => number | undefined): Column<UsageRow> => ({
    title,
    atEnd: true,
    narrow: 'hidden',
    cell: (row) => <span className="number">{formatCount(read(row) ?? 0)}</span>,
  })
  return [
    {
      title: by[0]?.toUpperCase() + by.slice(1),
      width: 'minmax(140px, 2fr)',
      cell: ({ key, caller }) => <Foreign text={caller?.name ?? key} />,
    },
    number('Calls', ({ llmCalls }) => llmCalls),
    number('Tokens in', ({ inputTokens }) => inputTokens),
    number('Cached', ({ cachedTokens }) => cachedTokens),
    number('Tokens out', ({ outputTokens }) => outputTokens),
    { title: 'Cost', atEnd: true, cell: (row) => <span className="number">{costOf(row)}</span> },
    { title: 'Budget left', narrow: 'second', cell: describeBudgets },
  ]
}

function Groups() {
  const { by, period } = useChoices()
  const usage = useUsage(by, period?.days ?? 30)
  if (usage.error !== null) return null
  if (usage.data === undefined) return <Loading what="usage" />
  if (usage.data.items.length === 0) {
    return (
      <Empty title={`Nothing was used by ${by}`}>
        <p>What tasks and chats use appears here. Choose a longer time above, or another grouping.</p>
      </Empty>
    )
  }
  return (
    <Table
      label={`Usage by ${by}`}
      columns={columnsOf(by)}
      items={usage.data.items}
      keyOf={({ key, caller, currency }) => JSON.stringify([key, caller?.id, currency])}
    />
  )
}
