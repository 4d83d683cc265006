// approvals: what tasks ask for, and the answers.
import { type Command, Option } from 'commander'
import {
  type ApprovalItem,
  type ApprovalScope,
  approvalScopes,
  approve,
  decline,
  getApproval,
  listApprovals,
} from '../../../contract/api/tasks/approvals.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { describeCommands, isOfHost } from '../../follow/approval-questions.ts'
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
    .description('let the call run, or the host be reached')
    .option('--reason <text>', 'why; the model reads it')
    .addOption(
      new Option('--for <scope>', 'of a host: the next connection, all of the task, or all tasks of its agent').choices(
        approvalScopes,
      ),
    )
    .action(callService(context, approveOne))
  approvals
    .command('decline <id>')
    .description('refuse the call')
    .option('--reason <text>', 'why; the model reads it')
    .action(callService(context, declineOne))
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
      ? [`answer it by ${item.expiresAt}: ${describeCommands(item)}`]
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

type AnswerFlags = { reason?: string; for?: ApprovalScope }

const passes: Record<ApprovalScope, string> = {
  once: 'the next connection to the host passes',
  task: 'the next try passes',
  always: 'the next try passes, and so do those of all tasks of the agent that start from now on',
}

function describeAnswered(item: ApprovalItem): string {
  const { id, status, taskName, scope } = item
  if (!isOfHost(item)) return `approval ${id} ${status}; task ${taskName} goes on`
  return `approval ${id} ${status}; ${scope === undefined ? 'the host stays refused' : passes[scope]}`
}

async function approveOne({ client, options, context, query }: ServiceCall, id: string, flags: AnswerFlags) {
  const body = dropUndefined({ reason: flags.reason, scope: flags.for })
  const item = await client.call(approve, { params: { id }, query, body })
  await printAnswer(context, options, item, () => describeAnswered(item))
}

async function declineOne({ client, options, context, query }: ServiceCall, id: string, { reason }: AnswerFlags) {
  const item = await client.call(decline, { params: { id }, query, body: dropUndefined({ reason }) })
  await printAnswer(context, options, item, () => describeAnswered(item))
}
