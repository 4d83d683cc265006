// proposal: what agents propose to remember, and what people decide about it.
import { type Command, Option } from 'commander'
import { typed } from '../../../client/typed.ts'
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
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { namespaceOf, readGlobalOptions } from '../../global-options.ts'
import { describeScope, printAnswer, printList } from '../../output/answers.ts'
import { formatAge } from '../../output/output.ts'
import { describeProposal, reviewQueue } from './proposal-queue.ts'

type Invocation = { command: Command; context: CliContext }
type ReviewOptions = { accept?: boolean; reject?: boolean; note?: string; apply?: boolean }

export function addProposalCommands(program: Command, context: CliContext): void {
  const proposal = program.command('proposal').description('what agents propose to remember')
  proposal
    .command('list')
    .alias('ls')
    .description('proposals, newest first')
    .addOption(new Option('--status <status>', 'only those that stand so').choices(proposalStatuses))
    .option('--type <type>', 'only those of this type, such as memory')
    .action((given: { status?: MemoryProposal['status']; type?: string }, command: Command) =>
      list(given, { command, context }),
    )
  proposal
    .command('show <id>')
    .alias('get')
    .description('a proposal, with what was decided')
    .action((id: string, _given: unknown, command: Command) => show(id, { command, context }))
  proposal
    .command('review [id]')
    .description(
      'accept or reject a pending proposal; without its id all of them, one after the other, at the keyboard',
    )
    .option('--accept', 'accept it; nothing is remembered by that alone')
    .option('--reject', 'reject it')
    .option('--apply', 'accept it and make a memory of it')
    .option('--note <text>', 'why')
    .action((id: string | undefined, given: ReviewOptions, command: Command) =>
      id === undefined ? reviewEach(given, { command, context }) : review(id, given, { command, context }),
    )
  proposal
    .command('apply <ids...>')
    .description('make memories of accepted proposals')
    .action((ids: string[], _given: unknown, command: Command) => apply(ids, { command, context }))
  proposal
    .command('archive <ids...>')
    .description('put proposals away without applying them')
    .action(async (ids: string[], _given: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      const client = await context.connect(options)
      await doEachName(ids, context.terminal, async (id) => {
        await client.call(archiveMemoryProposal, { params: { id }, query: namespaceOf(options) })
        context.terminal.note(`proposal ${id} archived`)
      })
    })
}

async function list(
  { status, type }: { status?: MemoryProposal['status']; type?: string },
  { command, context }: Invocation,
): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { items } = await client.call(listMemoryProposals, { query: { ...namespaceOf(options), status, type } })
  await printList(context, options, {
    items,
    columns: [
      { title: 'ID', value: (item) => item.id },
      { title: 'TYPE', value: (item) => item.type },
      { title: 'STATUS', value: (item) => item.status },
      { title: 'AGENT', value: (item) => item.agentName },
      { title: 'MADE', value: (item) => formatAge(item.createdAt, context.now()) },
      { title: 'TITLE', value: (item) => item.title },
    ],
    empty: `no proposals${describeScope(options)}`,
  })
}

async function show(id: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const item = await client.call(getMemoryProposal, { params: { id }, query: namespaceOf(options) })
  await printAnswer(context, options, item, () => describeProposal(item))
}

async function review(id: string, given: ReviewOptions, invocation: Invocation): Promise<void> {
  const { command, context } = invocation
  const { accept = false, reject = false, apply: applies = false, note: reviewNote } = given
  if ((accept || applies) === reject) {
    const advice = `${typed(`proposal review ${id} --accept`)}, or --reject, or --apply`
    throw new SvcError('InvalidRequest', `say what you decide: ${advice}`)
  }
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const status = reject ? ('rejected' as const) : ('accepted' as const)
  const target = { params: { id }, query: namespaceOf(options) }
  await client.call(reviewMemoryProposal, { ...target, body: { status, reviewNote } })
  context.terminal.note(`proposal ${id} ${status}`)
  if (applies) await apply([id], invocation)
}

async function reviewEach(given: ReviewOptions, { command, context }: Invocation): Promise<void> {
  if (Object.keys(given).length > 0) {
    const advice = `${typed('proposal review ID --accept')}, or \`${typed('proposal review')}\` alone to go through all of them`
    throw new SvcError('InvalidRequest', `say which proposal you mean: ${advice}`)
  }
  const options = readGlobalOptions(command)
  await reviewQueue(await context.connect(options), { context, query: namespaceOf(options) })
}

async function apply(ids: string[], { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  await doEachName(ids, context.terminal, async (id) => {
    const target = { params: { id }, query: namespaceOf(options), body: {} }
    const memory = await client.call(applyMemoryProposal, target)
    context.terminal.note(`proposal ${id} applied: memory ${memory.id}`)
  })
}
