// Tells those who wrote a command on the code host what its task has found.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources/resources.ts'
import { type Controller, defineController } from '../engine/controller.ts'
import { formatKey, parseKey } from '../engine/key.ts'
import { createKindSource } from '../engine/kind-source.ts'

type AnswerDeps = {
  resources: ResourceReader
  clock: Clock
  deliveries: { owesAnswer(task: Task): boolean; answerCommand(key: ResourceKey): Promise<void> }
}

export function createCommandAnswerController({ resources, clock, deliveries }: AnswerDeps): Controller {
  const source = createKindSource({
    kind: 'Task',
    resources,
    clock,
    onObject({ type, object }, enqueue) {
      if (type !== 'DELETED' && deliveries.owesAnswer(object)) enqueue(formatKey(object.metadata))
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
