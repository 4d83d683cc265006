// Works off stored deliveries: one worker at a time has one, and whoever dies with it is followed by another.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import { errorStatus, isSvcError, messageOf } from '../../../errors.ts'
import { createFairSemaphore } from '../../../lib/fair-semaphore.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { Ports } from '../../../ports/index.ts'
import { carryOut } from './carry-out.ts'
import type { CarryingOut } from './carrying.ts'

export type DeliveryWork = {
  /** Works it off, unless it has ended or another worker has it; the delivery as it is then. Never rejects for its content. */
  work(id: string): Promise<Delivery | undefined>
}

/** What the sender or the operator has to change; trying again as it is would lead to the same. */
const lasting = ['InvalidRequest', 'NotFound', 'Forbidden', 'BudgetExceeded', 'TooLarge', 'NotConfigured']
const firstDelayMs = 1000
const longestDelayMs = 300_000
/** Half an hour of trying. */
const mostAttempts = 12

function describeFailure(error: unknown): DeliveryOutcome {
  const reason = isSvcError(error) ? error.reason : 'Internal'
  // The sender is told that it is worth another try once the operator has set what is missing.
  const code = errorStatus[reason === 'NotConfigured' ? 'Unavailable' : reason]
  return { status: 'failed', code, message: redactText(messageOf(error)) }
}

function isLasting(error: unknown): boolean {
  return isSvcError(error) && lasting.includes(error.reason)
}

function delayMs(attempts: number, random: number): number {
  const most = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1))
  return Math.round(most / 2 + (most / 2) * random)
}

type Records = { deliveries: Ports['records']['deliveries'] }

/** Holds the lease until the function that it returns is called. */
function holdLease({ deliveries }: Records, { clock }: Ports, lease: { id: string; worker: string; leaseMs: number }) {
  const ended = new AbortController()
  const hold = async () => {
    while (!ended.signal.aborted) {
      await clock.sleep(lease.leaseMs / 3, ended.signal)
      await deliveries.extend(lease.id, lease)
    }
  }
  hold().catch(() => undefined)
  return () => ended.abort()
}

export function createDeliveryWork(carrying: CarryingOut): DeliveryWork {
  const { ports, settings } = carrying
  const { deliveries } = ports.records
  const places = createFairSemaphore(settings.concurrency)
  const never = new AbortController().signal

  async function end(delivery: Delivery, worker: string, error: unknown): Promise<void> {
    const outcome = describeFailure(error)
    if (isLasting(error) || delivery.attempts >= mostAttempts) {
      await deliveries.settle(delivery.id, worker, { state: 'failed', outcome })
      return
    }
    const afterMs = delayMs(delivery.attempts, ports.ids.random())
    await deliveries.postpone(delivery.id, worker, { afterMs, outcome: { ...outcome, status: 'accepted' } })
  }

  async function workOff(delivery: Delivery, worker: string): Promise<void> {
    const release = holdLease({ deliveries }, ports, { id: delivery.id, worker, leaseMs: settings.leaseMs })
    try {
      const outcome = await carryOut(carrying, delivery)
      const { status } = outcome
      const state = status === 'ignored' || status === 'failed' ? status : 'done'
      await deliveries.settle(delivery.id, worker, { state, outcome })
    } catch (error) {
      await end(delivery, worker, error)
    } finally {
      release()
    }
  }

  async function workInTurn(id: string): Promise<Delivery | undefined> {
    // Repositories take turns, so that none has to wait for a flood of another.
    const holder = (await deliveries.get(id))?.repository ?? ''
    await places.acquire(holder, never)
    try {
      const worker = ports.ids.next()
      const claimed = await deliveries.claim(id, { worker, leaseMs: settings.leaseMs })
      if (claimed !== undefined) await workOff(claimed, worker)
    } finally {
      places.release(holder)
    }
    return deliveries.get(id)
  }

  /** What waits for its turn is due, too, and is found again and again. */
  const underWay = new Map<string, Promise<Delivery | undefined>>()

  return {
    work(id) {
      const found = underWay.get(id)
      if (found !== undefined) return found
      const own = workInTurn(id).finally(() => underWay.delete(id))
      underWay.set(id, own)
      return own
    },
  }
}
