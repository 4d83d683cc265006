// Writes what the task of a command has found into the comment in which commands are answered.

import { isTerminalPhase, type Task } from '../../../contract/kinds/tasks/task.ts'
import { readRepositoryUrl } from '../../../contract/values/repository-url.ts'
import { readResultText } from '../../../lookup/result-text.ts'
import { redactText } from '../../../observability/redaction.ts'
import type { ResourceKey } from '../../../ports/resources/resources.ts'
import { codeHostKeys, createdByKey } from '../../../rules/codehost/subject.ts'
import { repeatOnConflict } from '../../resources/write-conflict.ts'
import type { Commanding } from './commands.ts'

/** Says when the answer was written. */
const answeredKey = 'svc.ai/codehost-answered-at'
const mostBytes = 65_536

/** Whether the code host still waits for the answer of a task. */
export function owesAnswer({ metadata, status }: Task): boolean {
  const isCommand = metadata.labels?.[createdByKey] === 'codehost-command'
  return isCommand && isTerminalPhase(status?.phase) && metadata.annotations?.[answeredKey] === undefined
}

async function describeEnd(
  { ports }: Commanding,
  task: Task,
): Promise<{ summary: string; detail?: string | undefined }> {
  const { phase, message } = task.status ?? {}
  const action = task.metadata.annotations?.[codeHostKeys.action]
  const sender = task.metadata.annotations?.[codeHostKeys.sender]
  const summary = `\`/svc ${action}\` by ${sender}: task ${task.metadata.name} has ended: ${phase}`
  if (phase !== 'Succeeded') return { summary, detail: redactText(message ?? '') }
  const text = await readResultText(ports.records.results, { taskUid: task.metadata.uid }, mostBytes)
  return { summary, detail: redactText(text ?? 'It has no result.') }
}

async function markAnswered({ ports }: Commanding, key: ResourceKey): Promise<void> {
  await repeatOnConflict(async () => {
    const task = await ports.resources.get('Task', key)
    if (task === undefined) return
    const annotations = { ...task.metadata.annotations, [answeredKey]: ports.clock.now().toISOString() }
    await ports.resources.update('Task', { ...task, metadata: { ...task.metadata, annotations } })
  })
}

/** Writes the answer that is owed. Repeating is harmless. The errors of the code host. */
export async function answerCommand(commanding: Commanding, key: ResourceKey): Promise<void> {
  const task = await commanding.ports.resources.get('Task', key)
  if (task === undefined || !owesAnswer(task)) return
  const { [codeHostKeys.url]: url = '', [codeHostKeys.number]: number } = task.metadata.annotations ?? {}
  const root = /^https:\/\/[^/]+\/[^/]+\/[^/]+/.exec(url)?.[0] ?? ''
  const read = readRepositoryUrl(root, commanding.settings.hosts)
  if ('repository' in read)
    await commanding.statusComments.show(
      commanding.openHost(read.repository),
      Number(number),
      await describeEnd(commanding, task),
    )
  await markAnswered(commanding, key)
}
