// approvals: what tasks ask for, and the answers.
import type { Command } from 'commander'
import { typed } from '../../../client/typed.ts'
import {
  type ApprovalItem,
  approve,
  decline,
  getApproval,
  listApprovals,
} from '../../../contract/api/tasks/approvals.ts'
import type { CliContext } from '../../context.ts'
import { addAllNamespacesOption, namespaceOf, readGlobalOptions, scopeOf } from '../../global-options.ts'
import { describeScope, printAnswer, printList } from '../../output/answers.ts'
import { formatAge } from '../../output/output.ts'

type Given = { all?: boolean; task?: string; reason?: string }
type Invocation = { command: Command; context: CliContext }

export function addApprovalCommands(program: Command, context: CliContext): void {
  const approvals = program.command('approvals').alias('approval').description('what tasks ask people for')
  addAllNamespacesOption(approvals.command('list'))
    .alias('ls')
    .description('approvals that wait for an answer, newest first')
    .option('--all', 'also those that have one')
    .option('--task <name>', 'only those of one task')
    .action((given: Given, command: Command) => listAll(given, { command, context }))
  approvals
    .command('get <id>')
    .description('what is asked, by whom and with which arguments')
    .action((id: string, _given: Given, command: Command) => show(id, { command, context }))
  approvals
    .command('approve <id>')
    .description('let the call run')
    .option('--reason <text>', 'why; the model reads it')
    .action((id: string, given: Given, command: Command) => answer(approve, { id, ...given }, { command, context }))
  approvals
    .command('decline <id>')
    .description('refuse the call')
    .option('--reason <text>', 'why; the model reads it')
    .action((id: string, given: Given, command: Command) => answer(decline, { id, ...given }, { command, context }))
}

async function listAll({ all = false, task }: Given, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const query = {
    ...scopeOf(options),
    ...(all ? {} : { status: 'pending' as const }),
    ...(task !== undefined && { taskName: task }),
  }
  const { items } = await client.call(listApprovals, { query })
  await printList(context, options, {
    items,
    columns: [
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'ID', value: (item) => item.id },
      { title: 'TASK', value: (item) => item.taskName },
      { title: 'STATUS', value: (item) => item.status },
      { title: 'ASKED', value: (item) => formatAge(item.createdAt, context.now()) },
      { title: 'MESSAGE', value: (item) => item.message },
    ],
    empty: `no approvals ${all ? 'at all' : 'that wait'}${describeScope(options)}`,
  })
}

function describe(item: ApprovalItem): string {
  const asker =
    item.agentName === undefined ? `task ${item.taskName}` : `task ${item.taskName} of agent ${item.agentName}`
  const answered =
    item.answeredBy === undefined
      ? [
          `answer it by ${item.expiresAt}: ${typed(`approvals approve ${item.id}`)} or ${typed(`approvals decline ${item.id} --reason TEXT`)}`,
        ]
      : [`${item.status} by ${item.answeredBy.name} at ${item.answeredAt}${item.reason ? `: ${item.reason}` : ''}`]
  const call = item.tool === 'request_approval' ? [] : [`call: ${item.tool} ${JSON.stringify(item.arguments, null, 2)}`]
  return [
    `${asker} asks: ${item.message}`,
    ...call,
    ...(item.status === 'expired' ? ['nobody answered in time'] : answered),
  ].join('\n')
}

async function show(id: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const item = await client.call(getApproval, { params: { id }, query: namespaceOf(options) })
  await printAnswer(context, options, item, () => describe(item))
}

async function answer(
  route: typeof approve | typeof decline,
  { id, reason }: Given & { id: string },
  { command, context }: Invocation,
): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const body = reason === undefined ? {} : { reason }
  const item = await client.call(route, { params: { id }, query: namespaceOf(options), body })
  await printAnswer(context, options, item, () => `approval ${id} ${item.status}; task ${item.taskName} goes on`)
}
