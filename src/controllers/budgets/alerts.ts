// Looks at budgets and approvals from time to time, for alerts.
import type { Clock } from '../../lib/clock.ts'
import { type Controller, createTimerSource, defineController } from '../engine/controller.ts'

const times = { firstMs: 2000, intervalMs: 15_000 }

type AlertDeps = { alerts: { advance(): Promise<void> }; clock: Clock }

export function createAlertController({ alerts, clock }: AlertDeps): Controller {
  return defineController({
    name: 'alerts',
    sources: [createTimerSource('due', times, (ms, signal) => clock.sleep(ms, signal))],
    concurrency: 1,
    async reconcile() {
      await alerts.advance()
      return undefined
    },
  })
}
