// Names the turn's tasks that have not ended when its answer is complete, whatever the model says about them.
import { isTerminalPhase, type TaskPhase } from '../../contract/resources/task.ts'
import type { ResourceKey, ResourceReader } from '../../ports/resources.ts'

function isOpen(phase: TaskPhase | undefined): boolean {
  return !isTerminalPhase(phase) && phase !== 'Scheduled'
}

/** One sentence, empty when all have ended. */
export async function describeRunning(
  resources: Pick<ResourceReader, 'get'>,
  created: readonly ResourceKey[],
): Promise<string> {
  const tasks = await Promise.all(created.map((key) => resources.get('Task', key)))
  const open = tasks.filter(
    (task) => task !== undefined && task.spec.schedule === undefined && isOpen(task.status?.phase),
  )
  if (open.length === 0) return ''
  const names = open.map((task) => `${task?.metadata.name} (${task?.status?.phase ?? 'Pending'})`)
  return `[Not finished yet: ${names.join(', ')}. Ask again to hear how it went.]`
}
