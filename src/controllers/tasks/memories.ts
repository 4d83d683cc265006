// What an ai task begins with of durable memory. A store that cannot be asked holds no task up.
import { promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import { chooseMemories, type GivenMemory, givenMemories, queryOfPrompt } from '../../rules/memory/memory-choice.ts'
import { isConfined } from '../../rules/tasks/task-bounds.ts'
import { keyOf, type TaskContext } from './context.ts'

export async function recallMemories(context: TaskContext, task: Task): Promise<GivenMemory[]> {
  if (task.spec.type !== 'ai' || isConfined(task)) return []
  const { namespace, uid } = task.metadata
  const prompt = promptOf(task.spec)
  const wanted = queryOfPrompt(prompt)
  try {
    const { vector, notice } = (await context.queryVectors?.of(namespace, wanted)) ?? {}
    if (notice !== undefined)
      context.log.warn({ task: keyOf(task), notice }, 'memories were searched with less than usual')
    const query = { namespace, query: wanted, vector, limit: givenMemories.count, reader: uid }
    return chooseMemories(await context.records.memories.recall(query), prompt)
  } catch (error) {
    context.log.warn({ task: keyOf(task), error: messageOf(error) }, 'memories could not be recalled')
    return []
  }
}
