// Raises alerts once over all replicas, delivers them to the webhook, and lists them for owners.
import type { Alert } from '../../contract/api/budgets/alerts.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { createLeasedQueue, type LeasedQueueOptions } from '../../lib/leased-queue.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import { alertBackoff, alertWindowMs, findBudgetAlert, makeApprovalAlert } from '../../rules/budgets/alert.ts'
import { signCallback } from '../../rules/tasks/callback.ts'
import { requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type AlertUsecases = {
  /** Newest first. */
  list(caller: Caller, query: { since?: Date }): Promise<Alert[]>
  /** Looks at budgets and approvals, and sends what is due. */
  advance(): Promise<void>
}

type AlertEnd = { delivery: 'delivered' | 'failed'; lastError?: string }

const timeoutMs = 30_000
const leaseMs = 90_000
const maxListed = 100
/** Approvals that are looked at each time. */
const maxApprovals = 500

export function createAlertUsecases({ ports, ledger, settings }: UsecaseDeps): AlertUsecases {
  const { records, clock, ids, egress } = ports
  const { alerts } = records
  const webhook = settings.alertWebhook

  async function send(alert: Alert): Promise<{ delivery: 'delivered' }> {
    const { delivery: _delivery, attempts: _attempts, lastError: _lastError, ...facts } = alert
    const body = JSON.stringify(facts)
    const policy = { allowNetworks: [...settings.allowNetworks], deny: [...settings.ownAddresses()] }
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Svc-Controller/1.0',
      'x-svc-delivery': alert.id,
      ...(webhook?.secret !== undefined && { 'x-svc-signature-256': signCallback(body, webhook.secret) }),
    }
    const request = {
      url: webhook?.url ?? '',
      method: 'POST',
      headers,
      body,
      maxBytes: 4096,
      timeoutMs,
      maxRedirects: 0,
    }
    const { status } = await egress.request({ ...request, policy }, new AbortController().signal)
    if (status >= 200 && status < 300) return { delivery: 'delivered' }
    throw new SvcError('UpstreamFailed', `the receiver answered ${status}; it must answer 2xx`)
  }

  const options: LeasedQueueOptions<Alert, AlertEnd, { lastError: string }> = {
    store: alerts,
    clock,
    ids,
    leaseMs,
    concurrency: 4,
    backoff: alertBackoff,
    handle: send,
    judge(error, alert) {
      const lastError = messageOf(error).slice(0, 500)
      const isOver = clock.now().getTime() > Date.parse(alert.createdAt) + alertWindowMs
      return isOver ? { end: { delivery: 'failed', lastError } } : { again: { lastError } }
    },
  }
  const queue = createLeasedQueue(options)

  async function raiseAll(): Promise<void> {
    const now = clock.now()
    const ofBudgets = (await ledger.read()).flatMap(({ limit, spent }) => {
      const found = findBudgetAlert(limit, { tokens: spent.tokens, cost: spent.costs[limit.currency] ?? 0 }, now)
      return found === undefined ? [] : [found]
    })
    const waiting = await records.approvals.list({ status: 'pending', limit: maxApprovals })
    const raised = [...ofBudgets, ...waiting.map((approval) => makeApprovalAlert(approval, now))]
    if (raised.length > 0) await alerts.raise(raised, webhook !== undefined)
  }

  return {
    async list(caller, { since }) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Budget' })
      return alerts.list({ limit: maxListed, ...(since && { since }) })
    },
    async advance() {
      await raiseAll()
      if (webhook === undefined) return
      await Promise.all((await alerts.due(maxListed)).map((id) => queue.process(id, 'webhook')))
    },
  }
}
