// Takes up deliveries that nobody handles (after a crash, or to be tried again), and answers commands whose tasks have ended.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources/resources.ts'
import { type Controller, createTimerSource, defineController, formatKey, parseKey } from '../engine/controller.ts'
import { createKindSource } from '../engine/kind-source.ts'

type AnswerDeps = {
  resources: ResourceReader
  clock: Clock
  deliveries: { isAnswerDue(task: Task): boolean; answerCommand(key: ResourceKey): Promise<void> }
}

export function createCommandAnswerController({ resources, clock, deliveries }: AnswerDeps): Controller {
  const source = createKindSource({
    kind: 'Task',
    resources,
    clock,
    onObject({ type, object }, enqueue) {
      if (type !== 'DELETED' && deliveries.isAnswerDue(object)) enqueue(formatKey(object.metadata))
    },
  })
  return defineController({
    name: 'command answers',
    sources: [source],
    concurrency: 2,
    async reconcile(key) {
      await deliveries.answerCommand(parseKey(key))
      return undefined
    },
  })
}

const times = { firstMs: 500, intervalMs: 2000 }
const atOnce = 100

type DeliveryDeps = {
  deliveries: { due(limit: number): Promise<string[]>; process(id: string): Promise<unknown> }
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
        await Promise.all(ids.map((id) => deliveries.process(id)))
      }
      return undefined
    },
  })
}
