// scan findings, show, dismiss, reopen, validate, patch, patches, pr: what was found, and what people do about it.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { typed } from '../../../client/typed.ts'
import {
  createFindingPullRequest,
  dismissFinding,
  getFinding,
  listFindingPatches,
  patchFinding,
  reopenFinding,
  validateFinding,
} from '../../../contract/api/scans/finding-routes.ts'
import { type Finding, findingStates, validationStatuses } from '../../../contract/api/scans/findings.ts'
import { listFindings } from '../../../contract/api/scans/routes.ts'
import { severities } from '../../../contract/kinds/scans/repository-scan.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { runGit } from '../../files/run-git.ts'
import { namespaceOf, readCount, readGlobalOptions } from '../../global-options.ts'
import { printAnswer, printList } from '../../output/answers.ts'
import { describeFinding, type ReadCode } from '../../output/finding-text.ts'
import { formatAge } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

type CodeFlags = { checkout: string }
type ListFlags = CodeFlags & {
  severity?: string
  state?: string
  validation?: string
  category?: string
  slice?: string
  recommended?: boolean
  limit?: string
  code?: boolean
}
type Invocation = { command: Command; context: CliContext }
type FindingCall = CliCall & { client: Client; target: { params: { id: string }; query: { namespace?: string } } }

export function addFindingCommands(scan: Command, context: CliContext): void {
  addList(scan, context)
  addCheckoutOption(scan.command('show <id>'))
    .description('a finding, with the code around each place where it is seen')
    .action((id: string, given: CodeFlags, command: Command) => show(id, given, { command, context }))
  scan
    .command('dismiss <ids...>')
    .description('say that findings are of no concern')
    .requiredOption('--reason <text>', 'why they are of no concern')
    .option('--until <time>', 'when they become open again, such as 2030-01-31T00:00:00Z')
    .action((ids: string[], given: { reason: string; until?: string }, command: Command) =>
      doEach(ids, { command, context }, async ({ client, target }) => {
        await client.call(dismissFinding, { ...target, body: given })
        return 'dismissed'
      }),
    )
  scan
    .command('reopen <ids...>')
    .description('make findings that are dismissed or fixed open ones')
    .action((ids: string[], _given: unknown, command: Command) =>
      doEach(ids, { command, context }, async ({ client, target }) => {
        await client.call(reopenFinding, target)
        return 'open'
      }),
    )
  scan
    .command('validate <ids...>')
    .description('have an agent try to confirm findings')
    .action((ids: string[], _given: unknown, command: Command) =>
      doEach(ids, { command, context }, async ({ client, target }) => {
        const { validationTaskName } = await client.call(validateFinding, target)
        return `is being validated by task ${validationTaskName}`
      }),
    )
  addRemedies(scan, context)
}

function addCheckoutOption(command: Command): Command {
  return command.option('--checkout <folder>', 'your clone of the repository, from which code is shown', '.')
}

function addList(scan: Command, context: CliContext): void {
  addCheckoutOption(scan.command('findings <name>'))
    .description('what was found, last changed first')
    .addOption(new Option('--severity <severity>', 'only those of this severity').choices(severities))
    .addOption(new Option('--state <state>', 'only those in this state').choices(findingStates))
    .addOption(
      new Option('--validation <status>', 'only those in this state of validation').choices(validationStatuses),
    )
    .option('--category <word>', 'only those of this category, as it is written')
    .option('--slice <id>', 'only those of this slice')
    .option('--recommended', 'only candidates for a remedy, the most pressing first')
    .option('--limit <count>', 'at most so many')
    .option('--code', 'each with the code around it')
    .action((name: string, given: ListFlags, command: Command) => list(name, given, { command, context }))
}

function addRemedies(scan: Command, context: CliContext): void {
  const add = (usage: string, description: string, act: (call: FindingCall, id: string) => Promise<void>) =>
    scan
      .command(usage)
      .description(description)
      .action(async (id: string, _given: unknown, command: Command) => act(await open(id, { command, context }), id))
  add('patch <id>', 'have an agent repair a finding, on a branch of its own', patch)
  add('patches <id>', 'patches that were proposed for a finding, the newest first', patches)
  add('pr <id>', 'open the pull request of the newest patch that passed', openPullRequest)
}

async function open(id: string, { command, context }: Invocation): Promise<FindingCall> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  return { options, context, client, target: { params: { id }, query: namespaceOf(options) } }
}

async function doEach(
  ids: string[],
  { command, context }: Invocation,
  act: (call: FindingCall) => Promise<string>,
): Promise<void> {
  await doEachName(ids, context.terminal, async (id) => {
    const done = await act(await open(id, { command, context }))
    context.terminal.note(`finding ${id} ${done}`)
  })
}

/** From a clone on this machine; what it does not have is not shown. */
function readFrom(folder: string): ReadCode {
  return async (commit, path) => {
    if (!/^[0-9a-f]{7,64}$/.test(commit)) return undefined
    return runGit(['-C', folder, 'cat-file', 'blob', `${commit}:${path}`], '', 'no such file').catch(() => undefined)
  }
}

async function list(name: string, given: ListFlags, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const { severity, state, validation: validationStatus, category, slice: sliceID, recommended = false } = given
  const limit = given.limit === undefined ? undefined : readCount('--limit', given.limit)
  const filters = { severity, state, validationStatus, category, sliceID, recommended }
  const client = await context.connect(options)
  const { items, hasMore } = await listPages<Finding>(client, listFindings, {
    params: { name },
    query: { ...namespaceOf(options), ...filters },
    ...(limit !== undefined && { limit }),
  })
  if (given.code === true && options.output === 'table' && items.length > 0) {
    const read = readFrom(given.checkout)
    for (const [index, item] of items.entries())
      context.terminal.print(`${index === 0 ? '' : '\n---\n\n'}${await describeFinding(item, read)}`)
    return
  }
  await printList(context, options, {
    items: items.map((item) => ({ ...item, name: item.id })),
    columns: [
      { title: 'ID', value: (item) => item.id },
      { title: 'SEVERITY', value: (item) => item.severity },
      { title: 'SURE', value: (item) => item.confidence },
      { title: 'STATE', value: (item) => item.state },
      { title: 'VALIDATION', value: (item) => item.validationStatus },
      { title: 'CHANGED', value: (item) => formatAge(item.updatedAt, context.now()) },
      { title: 'CATEGORY', wide: true, value: (item) => item.category },
      { title: 'SLICE', wide: true, value: (item) => item.sliceID },
      { title: 'PLACE', value: ({ filePath, line }) => filePath && `${filePath}${line ? `:${line}` : ''}` },
      { title: 'TITLE', value: (item) => item.title },
    ],
    empty: `no findings of ${name}; \`${typed(`scan runs ${name}`)}\` shows its runs`,
  })
  if (hasMore) context.terminal.note('there are more: raise --limit')
}

async function show(id: string, { checkout }: CodeFlags, { command, context }: Invocation): Promise<void> {
  const { client, target, options } = await open(id, { command, context })
  const finding = await client.call(getFinding, target)
  await printAnswer(context, options, finding, () => describeFinding(finding, readFrom(checkout)))
}

async function patch({ client, target, context, options }: FindingCall, id: string): Promise<void> {
  const proposal = await client.call(patchFinding, target)
  const next = `\`${typed(`scan patches ${id}`)}\` shows what came of it`
  await printAnswer(context, options, proposal, () => `task ${proposal.taskName} writes a patch; ${next}`)
}

async function patches({ client, target, context, options }: FindingCall, id: string): Promise<void> {
  const { items } = await client.call(listFindingPatches, target)
  await printList(context, options, {
    items: items.map((item) => ({ ...item, name: item.id })),
    columns: [
      { title: 'ID', value: (item) => item.id },
      { title: 'STATUS', value: (item) => item.status },
      { title: 'FILES', value: (item) => item.changedFiles?.length },
      { title: 'RISK', value: (item) => item.risk },
      { title: 'ASKED', value: (item) => formatAge(item.createdAt, context.now()) },
      { title: 'BRANCH', value: (item) => item.branch },
      { title: 'WHAT', value: (item) => item.failure ?? item.summary },
    ],
    empty: `no patches of ${id}; \`${typed(`scan patch ${id}`)}\` has one written`,
  })
}

async function openPullRequest({ client, target, context, options }: FindingCall): Promise<void> {
  const made = await client.call(createFindingPullRequest, target)
  await printAnswer(context, options, made, () => `${made.prURL} (${made.status})`)
}
