// The caller's identity, tokens, usage and the overview.

import { getUsage, type UsageItem } from '../../../contract/api/budgets/usage.ts'
import * as tokens from '../../../contract/api/identity/access.ts'
import * as auth from '../../../contract/api/identity/auth.ts'
import { getOverview } from '../../../contract/api/service/overview.ts'
import type { UsageSum } from '../../../ports/budgets/usage.ts'
import type { Caller, CallerTransaction, TokenRecord } from '../../../ports/identity/identity.ts'
import type { Bind } from '../../bind.ts'
import { namedNamespace } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

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
  bind(auth.validateToken, () => ({ json: { authenticated: true as const } }))
  bind(auth.getWhoami, ({ caller }) => ({ json: presentCaller(caller) }))
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
  bind(tokens.deleteToken, async ({ caller, params }) => {
    await usecases.tokens.revoke(caller, params.id)
    return { empty: true }
  })
}

const namespaced = new Set(['task', 'session', 'agent', 'provider'])

function presentSum(sum: UsageSum, groupBy: string): UsageItem {
  const { namespace, taskUid: _taskUid, key, ...counted } = sum
  return { key: namespaced.has(groupBy) && namespace !== undefined ? `${namespace}/${key}` : key, ...counted }
}

export function bindUsage(bind: Bind, { usecases }: RouteContext): void {
  bind(getUsage, async ({ caller, query }) => {
    const { groupBy, namespace, name, since, until } = query
    const sums = await usecases.usage.sum(caller, {
      groupBy,
      namespace,
      name,
      ...(since === undefined ? {} : { since: new Date(since) }),
      ...(until === undefined ? {} : { until: new Date(until) }),
    })
    return { json: { items: sums.map((sum) => presentSum(sum, groupBy)), metadata: {} } }
  })
}

export function bindOverview(bind: Bind, { usecases }: RouteContext): void {
  bind(getOverview, async ({ caller, namespace }) => {
    return { json: await usecases.overview.describe(caller, namedNamespace({ namespace })) }
  })
}
