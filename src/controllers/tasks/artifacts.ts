// Keeps the files that a command left in its artifact folder, however it ended.
import { Readable } from 'node:stream'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import type { LeftFile } from '../../ports/tasks/left-files.ts'
import { attemptOf, keyOf, type TaskContext } from './context.ts'

/** Why the file is not kept, or undefined when it is. */
async function keepFile(context: TaskContext, task: Task, file: LeftFile): Promise<string | undefined> {
  if ('skipped' in file) return file.skipped
  const body = Readable.from(file.open(), { objectMode: false })
  try {
    const kept = { filename: file.name, contentType: contentTypeOf(file.name), body }
    await context.records.artifacts.put(attemptOf(task), kept)
    return undefined
  } catch (error) {
    if (isSvcError(error, 'Unavailable')) throw error
    return messageOf(error)
  } finally {
    body.destroy()
  }
}

/** Call it before the attempt is removed. Files that cannot be read any more are reported as lost in the task's log. */
export async function keepArtifacts(context: TaskContext, task: Task): Promise<void> {
  if (task.spec.artifactsDir === undefined || task.status?.phase !== 'Running') return
  const key = attemptOf(task)
  const notes: string[] = []
  try {
    for await (const file of context.workloads.readLeftFiles(key)) {
      const skipped = await keepFile(context, task, file)
      if (skipped !== undefined) notes.push(`[artifact ${JSON.stringify(file.name)} is left out: ${skipped}]`)
    }
  } catch (error) {
    context.log.warn({ task: keyOf(task), error: messageOf(error) }, 'artifacts of a command were lost')
    notes.push(`[artifacts are lost: ${messageOf(error)}]`)
  }
  if (notes.length > 0) await context.records.logs.append(key, notes)
}
