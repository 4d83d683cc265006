// Approvals: what tasks ask people for.
import * as routes from '../../../contract/api/tasks/approvals.ts'
import type { Approval } from '../../../ports/tasks/parking.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { namedNamespace } from '../../paging.ts'

function present({ answeredBy, ...approval }: Approval): routes.ApprovalItem {
  return { ...approval, ...(answeredBy && { answeredBy }) }
}

export function bindApprovals(bind: Bind, { usecases: { approvals } }: RouteContext): void {
  bind(routes.listApprovals, async ({ caller, namespace, query }) => {
    const items = await approvals.list(caller, { ...query, namespace: namedNamespace({ namespace }) })
    return { json: { items: items.map(present), metadata: {} } }
  })
  bind.json(routes.getApproval, async ({ caller, record }) => present(await approvals.get(caller, record)))
  bind.json(routes.approve, async ({ caller, record, body: { reason, scope } }) =>
    present(await approvals.answer(caller, record, { status: 'approved', reason, scope })),
  )
  bind.json(routes.decline, async ({ caller, record, body: { reason } }) =>
    present(await approvals.answer(caller, record, { status: 'declined', reason })),
  )
}
