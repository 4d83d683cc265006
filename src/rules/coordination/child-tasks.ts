// What a parent's status shows about its children.
import type { ChildTask, Task } from '../../contract/kinds/tasks/task.ts'

const longestResult = 4096

export function summarizeChild(child: Task, result: string | undefined): ChildTask {
  const agent = child.spec.agentRef?.name
  const text =
    result !== undefined && result.length > longestResult ? `${result.slice(0, longestResult)}\n[truncated]` : result
  return {
    name: child.metadata.name,
    agent,
    phase: child.status?.phase ?? 'Pending',
    result: text,
  }
}
