// The caller's identity, tokens, usage and the overview.
import { listAlerts } from '../../../contract/api/budgets/alerts.ts'
import * as routes from '../../../contract/api/budgets/budgets.ts'
import { getUsage, getUsageTable, type UsageItem } from '../../../contract/api/budgets/usage.ts'
import { listAudit } from '../../../contract/api/identity/audit.ts'
import * as auth from '../../../contract/api/identity/auth.ts'
import * as tokens from '../../../contract/api/identity/tokens.ts'
import type { RouteQuery } from '../../../contract/api/resources/route.ts'
import { getOverview } from '../../../contract/api/service/overview.ts'
import { getRuns } from '../../../contract/api/service/runs.ts'
import { formatCsv } from '../../../lib/csv.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { UsageSum } from '../../../ports/budgets/usage.ts'
import type { AuditQuery, AuditRecord } from '../../../ports/identity/audit.ts'
import type { Caller, CallerTransaction, TokenRecord } from '../../../ports/identity/identity.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { makeCursor, namedNamespace, readPageOf, readTextCursor, wrapPage } from '../../paging.ts'

/** Without the contexts: what those allow is between the issuer and the service. */
function presentTransaction({ context: _context, requesterContext: _rctx, ...shown }: CallerTransaction) {
  return shown
}

function presentCaller(caller: Caller): auth.Whoami {
  const { authType, username, uid, groups, namespace, boundNamespace, role, serverTools } = caller
  const { subject, issuer, email, roles, transaction } = caller
  const origin = { subject, issuer, email, roles, transaction: transaction && presentTransaction(transaction) }
  const rights = { namespace, boundNamespace, ...(caller.cluster === undefined ? { role } : {}), serverTools }
  // JSON leaves out undefined fields.
  return { authenticated: true, authType, username, uid, groups, ...origin, ...rights }
}

export function bindAuth(bind: Bind): void {
  bind.json(auth.validateToken, () => ({ authenticated: true as const }))
  bind.json(auth.getWhoami, ({ caller }) => presentCaller(caller))
}

export function bindTokens(bind: Bind, { usecases }: RouteContext): void {
  bind(tokens.createToken, async ({ caller, body }) => {
    const { record, token } = await usecases.tokens.create(caller, body)
    return { json: { ...record, token }, headers: { 'cache-control': 'no-store' } }
  })
  bind(tokens.listTokens, async ({ caller }) => {
    const items: TokenRecord[] = await usecases.tokens.list(caller)
    return { json: { items, metadata: {} } }
  })
  bind.empty(tokens.deleteToken, ({ caller, params }) => usecases.tokens.revoke(caller, params.id))
}

const namespaced = new Set(['task', 'session', 'agent', 'monitor', 'scan', 'provider'])

function presentSum(sum: UsageSum, groupBy: string): UsageItem {
  const { namespace, taskUid: _taskUid, key, ...counted } = sum
  return { key: namespaced.has(groupBy) && namespace !== undefined ? `${namespace}/${key}` : key, ...counted }
}

/** The columns of the table, in the words of the API. */
const usageColumns = [
  ...(['at', 'key', 'llmCalls', 'inputTokens', 'cachedTokens', 'cacheWriteTokens', 'outputTokens'] as const),
  ...(['estimatedInputTokens', 'estimatedOutputTokens', 'cost', 'estimatedCost', 'currency', 'unpricedCalls'] as const),
]

function writeTable(items: readonly UsageItem[]): string {
  const head = [...usageColumns, 'caller', 'callerKind']
  return formatCsv([
    head,
    ...items.map((item) => [...usageColumns.map((name) => item[name]), item.caller?.name, item.caller?.kind]),
  ])
}

export function bindUsage(bind: Bind, { usecases }: RouteContext): void {
  async function list(caller: Caller, query: RouteQuery<typeof getUsage>): Promise<UsageItem[]> {
    const { groupBy, label, per, namespace, name, since, until } = query
    const sums = await usecases.usage.sum(caller, {
      groupBy,
      ...dropUndefined({ label, per }),
      namespace,
      name,
      ...(since === undefined ? {} : { since: new Date(since) }),
      ...(until === undefined ? {} : { until: new Date(until) }),
    })
    return sums.map((sum) => presentSum(sum, groupBy))
  }
  bind.json(getUsage, async ({ caller, query }) => ({ items: await list(caller, query), metadata: {} }))
  bind(getUsageTable, async ({ caller, query }) => {
    const headers = { 'content-disposition': `attachment; filename="usage-by-${query.groupBy}.csv"` }
    return { text: writeTable(await list(caller, query)), contentType: 'text/csv; charset=utf-8', headers }
  })
}

export function bindOverview(bind: Bind, { usecases }: RouteContext): void {
  bind.json(getOverview, ({ caller, namespace }) => usecases.overview.describe(caller, namedNamespace({ namespace })))
  bind.json(getRuns, ({ caller, namespace, query: { agent, days } }) =>
    usecases.overview.sumRuns(caller, namedNamespace({ namespace }), { agent, days }),
  )
}

const sort = 'audit'
const cursorShape = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S{1,128})$/

function writeCursor({ createdAt, id }: AuditRecord): string {
  return makeCursor(sort, `${createdAt} ${id}`)
}

function readBefore(cursor: string | undefined): { before?: { createdAt: string; id: string } } {
  const [, createdAt, id] = readTextCursor(sort, cursor, cursorShape) ?? []
  return createdAt === undefined || id === undefined ? {} : { before: { createdAt, id } }
}

type Filters = RouteQuery<typeof listAudit>

function readFilters({ limit: _limit, continue: cursor, since, until, ...rest }: Filters): Omit<AuditQuery, 'limit'> {
  return {
    ...dropUndefined(rest),
    ...(since === undefined ? {} : { since: new Date(since) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
    ...readBefore(cursor),
  }
}

export function bindAudit(bind: Bind, { usecases }: RouteContext): void {
  bind(listAudit, async ({ caller, query }) => {
    const page = await readPageOf({ limit: query.limit, cursorOf: writeCursor }, (limit) =>
      usecases.audit.list(caller, { ...readFilters(query), limit }),
    )
    return { json: wrapPage(page, (record) => record) }
  })
}

export function bindBudgets(bind: Bind, { usecases: { budgets, alerts } }: RouteContext): void {
  bind(listAlerts, async ({ caller, query: { since } }) => {
    const items = await alerts.list(caller, since === undefined ? {} : { since: new Date(since) })
    return { json: { items, metadata: {} } }
  })
  bind.json(routes.listBudgets, async ({ caller }) => ({ items: await budgets.list(caller), metadata: {} }))
  bind.json(routes.getBudget, ({ caller, params }) => budgets.get(caller, params.name))
  bind.json(routes.putBudget, ({ caller, params, body }) => budgets.put(caller, params.name, body))
  bind.empty(routes.deleteBudget, ({ caller, params }) => budgets.remove(caller, params.name))
}
