// Takes up deliveries that nobody works off: what a crash has interrupted, and what is to be tried again.
import type { Clock } from '../../lib/clock.ts'
import { type Controller, createTimerSource, defineController } from '../engine/controller.ts'

const times = { firstMs: 500, intervalMs: 2000 }
const atOnce = 100

type DeliveryDeps = {
  deliveries: { due(limit: number): Promise<string[]>; work(id: string): Promise<unknown> }
  clock: Clock
}

export function createDeliveryController({ deliveries, clock }: DeliveryDeps): Controller {
  return defineController({
    name: 'deliveries',
    sources: [createTimerSource('due', times, (ms, signal) => clock.sleep(ms, signal))],
    concurrency: 1,
    async reconcile(_key, signal) {
      for (
        let ids = await deliveries.due(atOnce);
        ids.length > 0 && !signal.aborted;
        ids = await deliveries.due(atOnce)
      ) {
        await Promise.all(ids.map((id) => deliveries.work(id)))
      }
      return undefined
    },
  })
}
