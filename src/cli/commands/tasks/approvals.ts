// approvals: what tasks ask for, and the answers.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  type ApprovalItem,
  approve,
  decline,
  getApproval,
  listApprovals,
} from '../../../contract/api/tasks/approvals.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { addAllNamespacesOption } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

export function addApprovalCommands(program: Command, context: CliContext): void {
  const approvals = program.command('approvals').alias('approval').description('what tasks ask people for')
  const list = addAllNamespacesOption(approvals.command('list'))
    .alias('ls')
    .description('approvals that wait for an answer, newest first')
    .option('--all', 'also those that have one')
    .option('--task <name>', 'only those of one task')
  addList(list, context, waiting)
  approvals
    .command('get <id>')
    .description('what is asked, by whom and with which arguments')
    .action(callService(context, show))
  approvals
    .command('approve <id>')
    .description('let the call run')
    .option('--reason <text>', 'why; the model reads it')
    .action(callService(context, answerBy(approve)))
  approvals
    .command('decline <id>')
    .description('refuse the call')
    .option('--reason <text>', 'why; the model reads it')
    .action(callService(context, answerBy(decline)))
}

const waiting: ListCommand<ApprovalItem, { all?: boolean; task?: string }> = {
  route: listApprovals,
  filters: ({ all = false, task }) => ({
    ...(all ? {} : { status: 'pending' }),
    ...(task !== undefined && { taskName: task }),
  }),
  columns: (now) => [
    { title: 'NAMESPACE', value: (item) => item.namespace },
    { title: 'ID', value: (item) => item.id },
    { title: 'TASK', value: (item) => item.taskName },
    { title: 'STATUS', value: (item) => item.status },
    { title: 'ASKED', value: (item) => formatAge(item.createdAt, now) },
    { title: 'MESSAGE', value: (item) => item.message },
  ],
  empty: (scope, { flags: { all } }) => `no approvals ${all ? 'at all' : 'that wait'}${scope}`,
}

function describe(item: ApprovalItem): string {
  const asker =
    item.agentName === undefined ? `task ${item.taskName}` : `task ${item.taskName} of agent ${item.agentName}`
  const answered =
    item.answeredBy === undefined
      ? [
          `answer it by ${item.expiresAt}: ${commandHint(`approvals approve ${item.id}`)} or ${commandHint(`approvals decline ${item.id} --reason TEXT`)}`,
        ]
      : [`${item.status} by ${item.answeredBy.name} at ${item.answeredAt}${item.reason ? `: ${item.reason}` : ''}`]
  const call = item.tool === 'request_approval' ? [] : [`call: ${item.tool} ${JSON.stringify(item.arguments, null, 2)}`]
  return [
    `${asker} asks: ${item.message}`,
    ...call,
    ...(item.status === 'expired' ? ['nobody answered in time'] : answered),
  ].join('\n')
}

async function show({ client, options, context, query }: ServiceCall, id: string): Promise<void> {
  const item = await client.call(getApproval, { params: { id }, query })
  await printAnswer(context, options, item, () => describe(item))
}

function answerBy(route: typeof approve | typeof decline) {
  return async ({ client, options, context, query }: ServiceCall, id: string, { reason }: { reason?: string }) => {
    const body = reason === undefined ? {} : { reason }
    const item = await client.call(route, { params: { id }, query, body })
    await printAnswer(context, options, item, () => `approval ${id} ${item.status}; task ${item.taskName} goes on`)
  }
}
