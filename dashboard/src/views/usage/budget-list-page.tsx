// Budgets: what each bounds, for whom, and how much of it is spent.
import { Link, useNavigate } from 'react-router'
import { type BudgetItem, listBudgets, putBudget } from '../../../../src/contract/api/budgets/budgets.ts'
import { useSum } from '../../data/sums.ts'
import { requestNotices, useNoticeState } from '../../parts/browser-notices.ts'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing, wholeList } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Offered } from '../../session/offered.tsx'
import { BudgetBadge, BudgetMeters } from './budget-meter.tsx'
import { describeScope } from './budget-words.ts'

const addressOf = ({ name }: BudgetItem) => `/budgets/${encodeURIComponent(name)}`

const columns: Column<BudgetItem>[] = [
  {
    title: 'Name',
    width: 'minmax(120px, 1fr)',
    cell: (budget) => (
      <Link className="text-link" to={addressOf(budget)}>
        <Foreign text={budget.name} />
      </Link>
    ),
  },
  { title: 'Status', width: '130px', cell: (budget) => <BudgetBadge budget={budget} /> },
  { title: 'For', cell: ({ spec }) => <Foreign text={describeScope(spec)} />, narrow: 'hidden' },
  { title: 'Per', width: '80px', cell: ({ spec: { period } }) => period, narrow: 'hidden' },
  {
    title: 'Spent',
    width: 'minmax(280px, 2fr)',
    cell: (budget) => <BudgetMeters budget={budget} />,
    narrow: 'second',
  },
]

export default function BudgetListPage() {
  const navigate = useNavigate()
  const budgets = useSum(['Budget', 'Usage'], listBudgets)
  const notices = useNoticeState()
  const make = (
    <Offered to={putBudget}>
      {notices === 'default' && <Button onClick={() => void requestNotices()}>Notify me in this browser</Button>}
      <Link className="button" data-look="main" to="/budgets/new">
        New budget
      </Link>
    </Offered>
  )
  return (
    <Page title="Budgets" actions={make}>
      <Listing
        label="Budgets"
        columns={columns}
        list={wholeList(budgets)}
        keyOf={({ name }) => name}
        onOpen={(budget) => void navigate(addressOf(budget))}
        fills
        empty={
          <Empty title="There are no budgets yet">
            <p>
              A budget bounds the tokens or the money that an agent, a caller, a namespace or the whole service may use.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
