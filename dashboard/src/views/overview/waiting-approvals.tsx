// What tasks ask people for, and the answers.
import { listApprovals } from '../../../../src/contract/api/tasks/approvals.ts'
import { useSum } from '../../data/sums.ts'
import { Approval } from '../../parts/approvals.tsx'
import { useScope } from '../../parts/scope.ts'
import { Failure } from '../../parts/states.tsx'

export function WaitingApprovals() {
  const { namespace } = useScope()
  const query = { status: 'pending', ...(namespace && { namespace }) } as const
  const approvals = useSum(['Approval', 'Task'], listApprovals, { query })
  if (approvals.error !== null) return <Failure error={approvals.error} />
  const items = approvals.data?.items ?? []
  if (items.length === 0) return null
  return (
    <section className="stack" aria-labelledby="approvals">
      <h2 id="approvals">Needs approval</h2>
      {items.map((item) => (
        <Approval key={item.id} approval={item} />
      ))}
    </section>
  )
}
