// task network: which network the programs of a task have, and what they reached and were refused.

import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { getTaskNetwork, type TaskHost, type TaskNetwork } from '../../../contract/api/tasks/network.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { writeHostName } from '../../../contract/values/network-names.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { describeBytes } from '../../../lib/bytes.ts'
import type { CliContext } from '../../context.ts'
import type { TaskTarget } from '../../files/artifact-files.ts'
import { targetOfTask } from '../../follow/follow.ts'
import { formatItems, printAnswer, shapeOf } from '../../output/answers.ts'
import { describeNetwork } from '../../output/network-text.ts'
import { type Column, formatAge, formatYaml } from '../../output/output.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

export function addTaskNetworkCommand(add: AddTaskCommand): void {
  add('network <name>', 'what its programs may reach, and what they reached and were refused', showNetwork)
    .option('--learn', 'print a spec.network for the next run: what this one reached and asked for')
    .addHelpText(
      'after',
      `
To find what a program needs, let it reach everything once (onUnknown: allow) and print the list: ${commandHint('task network NAME --learn')}.`,
    )
}

function columnsAt(now: Date): Column<TaskHost>[] {
  return [
    { title: 'HOST', value: (item) => (item.host === '*' ? 'all others' : writeHostName(item)) },
    { title: 'CONNECTIONS', value: ({ connections }) => connections },
    { title: 'SENT', value: ({ sent }) => describeBytes(sent) },
    { title: 'RECEIVED', value: ({ received }) => describeBytes(received) },
    { title: 'REFUSED', value: ({ refused }) => (refused === 0 ? '' : refused) },
    { title: 'ALLOWED BY', value: ({ allowedBy }) => allowedBy ?? 'nothing' },
    { title: 'LAST', value: ({ lastAt }) => formatAge(lastAt, now) },
    { title: 'FIRST', value: ({ firstAt }) => formatAge(firstAt, now), wide: true },
    { title: 'REASON', value: ({ reason }) => reason, wide: true },
  ]
}

async function showNetwork(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, flags } = call
  const answer = await client.call(getTaskNetwork, taskTargetOf(name, options))
  if (flags.learn) return printLearned(call, name, answer)
  const { terminal } = context
  if (options.output === 'table') terminal.note(`network: ${describeNetwork(answer)}`)
  if (options.output === 'table' && answer.hosts.length === 0) return terminal.note(explainNothing(name, answer))
  await printAnswer(context, options, answer, () =>
    formatItems(answer.hosts, columnsAt(context.now()), shapeOf(options, terminal.width)),
  )
}

function explainNothing(name: string, { network }: TaskNetwork): string {
  const isCounted = network !== undefined && !network.allow.includes('open')
  return isCounted ? `${name} has asked for no host yet` : `what ${name} reaches is not counted`
}

/** InvalidRequest where nothing is known. */
async function printLearned({ options, context }: TaskCall, name: string, answer: TaskNetwork): Promise<void> {
  const { learned } = answer
  if (learned.length === 0) {
    const advice = 'run it once with a spec.network whose onUnknown is allow'
    throw new SvcError('InvalidRequest', `nothing can be learned: ${explainNothing(name, answer)}; ${advice}`)
  }
  const value = { spec: { network: { allow: learned, onUnknown: 'refuse' } } }
  await printAnswer(context, options, value, () => formatYaml(value))
}

/** Undefined where the service does not say. */
export async function findNetworkText(client: Client, target: TaskTarget): Promise<string | undefined> {
  return client.call(getTaskNetwork, target).then(describeNetwork, (error: unknown) => {
    // A service of an earlier version does not know the route.
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  })
}

/** Before a program starts; what runs no programs has nothing to say. */
export async function noteNetwork(client: Client, task: Task, { terminal }: CliContext): Promise<void> {
  if (task.spec.type === 'ai') return
  const text = await findNetworkText(client, targetOfTask(task))
  if (text !== undefined) terminal.note(`network: ${text}`)
}
