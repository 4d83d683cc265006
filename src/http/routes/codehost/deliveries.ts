// Deliveries of the webhook, for people.
import * as routes from '../../../contract/api/codehost/deliveries.ts'
import type { Delivery, DeliveryCursor } from '../../../ports/codehost/deliveries.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { makeCursor, namedNamespace, readPageOf, readTextCursor, wrapPage } from '../../paging.ts'

const sort = 'deliveries'
const cursorShape = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S{1,128})$/

function writeCursor({ receivedAt, id }: Delivery): string {
  return makeCursor(sort, `${receivedAt} ${id}`)
}

function readBefore(cursor: string | undefined): DeliveryCursor | undefined {
  const [, receivedAt, id] = readTextCursor(sort, cursor, cursorShape) ?? []
  return receivedAt === undefined || id === undefined ? undefined : { receivedAt, id }
}

function present({ facts: _facts, label: _label, happenedAt: _happenedAt, ...shown }: Delivery): routes.DeliveryItem {
  return shown
}

export function bindDeliveries(bind: Bind, { usecases: { deliveries } }: RouteContext): void {
  bind(routes.listDeliveries, async ({ caller, namespace, query }) => {
    const { limit, continue: cursor, repository, number, event, state } = query
    const wanted = { repository: repository?.toLowerCase(), number, event, state, before: readBefore(cursor) }
    const page = await readPageOf({ limit, cursorOf: writeCursor }, (count) =>
      deliveries.list(caller, { ...wanted, namespace: namedNamespace({ namespace }), limit: count }),
    )
    return { json: wrapPage(page, present) }
  })
  bind.json(routes.getDelivery, async ({ caller, record }) => present(await deliveries.get(caller, record)))
  bind.json(routes.redeliver, async ({ caller, record }) => present(await deliveries.redeliver(caller, record)))
}
