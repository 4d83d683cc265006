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
  bind(routes.getApproval, async ({ caller, namespace, params: { id } }) => {
    return { json: present(await approvals.get(caller, { namespace, id })) }
  })
  bind(routes.approve, async ({ caller, namespace, params: { id }, body: { reason, scope } }) => {
    return { json: present(await approvals.answer(caller, { namespace, id }, { status: 'approved', reason, scope })) }
  })
  bind(routes.decline, async ({ caller, namespace, params: { id }, body: { reason } }) => {
    return { json: present(await approvals.answer(caller, { namespace, id }, { status: 'declined', reason })) }
  })
}
