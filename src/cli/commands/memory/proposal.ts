// proposal: what agents propose to remember, and what people decide about it.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  applyMemoryProposal,
  archiveMemoryProposal,
  getMemoryProposal,
  listMemoryProposals,
  type MemoryProposal,
  proposalStatuses,
  reviewMemoryProposal,
} from '../../../contract/api/memory/memory-proposals.ts'
import { SvcError } from '../../../errors.ts'
import { callForEach, callService, openCall, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'
import { describeProposal, reviewQueue } from './proposal-queue.ts'

type Invocation = { command: Command; context: CliContext }
type ReviewOptions = { accept?: boolean; reject?: boolean; note?: string; apply?: boolean }

export function addProposalCommands(program: Command, context: CliContext): void {
  const proposal = program.command('proposal').description('what agents propose to remember')
  const list = proposal
    .command('list')
    .alias('ls')
    .description('proposals, newest first')
    .addOption(new Option('--status <status>', 'only those that stand so').choices(proposalStatuses))
    .option('--type <type>', 'only those of this type, such as memory')
  addList(list, context, proposals)
  proposal
    .command('show <id>')
    .alias('get')
    .description('a proposal, with what was decided')
    .action(callService(context, show))
  proposal
    .command('review [id]')
    .description(
      'accept or reject a pending proposal; without its id all of them, one after the other, at the keyboard',
    )
    .option('--accept', 'accept it; nothing is remembered by that alone')
    .option('--reject', 'reject it')
    .option('--apply', 'accept it and make a memory of it')
    .option('--note <text>', 'why')
    .action((id: string | undefined, flags: ReviewOptions, command: Command) =>
      id === undefined ? reviewEach(flags, { command, context }) : review(id, flags, { command, context }),
    )
  proposal
    .command('apply <ids...>')
    .description('make memories of accepted proposals')
    .action(callForEach(context, apply))
  proposal
    .command('archive <ids...>')
    .description('put proposals away without applying them')
    .action(
      callForEach(context, async ({ client, query }, id) => {
        await client.call(archiveMemoryProposal, { params: { id }, query })
        return `proposal ${id} archived`
      }),
    )
}

const proposals: ListCommand<MemoryProposal, { status?: MemoryProposal['status']; type?: string }> = {
  route: listMemoryProposals,
  filters: ({ status, type }) => ({ status, type }),
  columns: (now) => [
    { title: 'ID', value: (item) => item.id },
    { title: 'TYPE', value: (item) => item.type },
    { title: 'STATUS', value: (item) => item.status },
    { title: 'AGENT', value: (item) => item.agentName },
    { title: 'MADE', value: (item) => formatAge(item.createdAt, now) },
    { title: 'TITLE', value: (item) => item.title },
  ],
  empty: (scope) => `no proposals${scope}`,
}

async function show({ client, options, context, query }: ServiceCall, id: string): Promise<void> {
  const item = await client.call(getMemoryProposal, { params: { id }, query })
  await printAnswer(context, options, item, () => describeProposal(item))
}

async function review(id: string, flags: ReviewOptions, { command, context }: Invocation): Promise<void> {
  const { accept = false, reject = false, apply: applies = false, note: reviewNote } = flags
  if ((accept || applies) === reject) {
    const advice = `${commandHint(`proposal review ${id} --accept`)}, or --reject, or --apply`
    throw new SvcError('InvalidRequest', `say what you decide: ${advice}`)
  }
  const call = await openCall(command, context)
  const status = reject ? ('rejected' as const) : ('accepted' as const)
  await call.client.call(reviewMemoryProposal, { params: { id }, query: call.query, body: { status, reviewNote } })
  context.terminal.note(`proposal ${id} ${status}`)
  if (applies) context.terminal.note(await apply(call, id))
}

async function reviewEach(flags: ReviewOptions, { command, context }: Invocation): Promise<void> {
  if (Object.keys(flags).length > 0) {
    const advice = `${commandHint('proposal review ID --accept')}, or \`${commandHint('proposal review')}\` alone to go through all of them`
    throw new SvcError('InvalidRequest', `say which proposal you mean: ${advice}`)
  }
  const { client, query } = await openCall(command, context)
  await reviewQueue(client, { context, query })
}

async function apply({ client, query }: ServiceCall, id: string): Promise<string> {
  const memory = await client.call(applyMemoryProposal, { params: { id }, query, body: {} })
  return `proposal ${id} applied: memory ${memory.id}`
}
