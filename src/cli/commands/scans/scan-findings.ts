// scan findings, show, dismiss, reopen, validate, patch, patches, pr: what was found, and what people do about it.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import {
  createFindingPullRequest,
  dismissFinding,
  type Finding,
  findingStates,
  getFinding,
  listFindingPatches,
  type PatchProposal,
  patchFinding,
  reopenFinding,
  validateFinding,
  validationStatuses,
} from '../../../contract/api/scans/findings.ts'
import { listFindings, listScanRuns } from '../../../contract/api/scans/routes.ts'
import { severities } from '../../../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../../../errors.ts'
import { describeValidation } from '../../../rules/scans/validation-answer.ts'
import { callForEach, callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { runUserGit } from '../../files/run-git.ts'
import { addWaitOption, answerEnded, waitUntil } from '../../follow/wait-until.ts'
import { namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { describeFinding, type ReadCode } from '../../output/finding-text.ts'
import {
  addList,
  type ListCall,
  type ListCommand,
  printListed,
  readList,
  requestOf,
} from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

type CodeFlags = { checkout: string }
type WaitFlags = { wait?: boolean }
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

export function addFindingCommands(scan: Command, context: CliContext): void {
  addFindingsList(scan, context)
  addCheckoutOption(scan.command('show <id>'))
    .description('a finding, with the code around each place where it is seen')
    .action(callService(context, show))
  scan
    .command('dismiss <ids...>')
    .description('say that findings are of no concern')
    .requiredOption('--reason <text>', 'why they are of no concern')
    .option('--until <time>', 'when they become open again, such as 2030-01-31T00:00:00Z')
    .action(
      callForEach(context, async ({ client, query }, id, body: { reason: string; until?: string }) => {
        await client.call(dismissFinding, { params: { id }, query, body })
        return `finding ${id} dismissed`
      }),
    )
  scan
    .command('reopen <ids...>')
    .description('make findings that are dismissed or fixed open ones')
    .action(
      callForEach(context, async ({ client, query }, id) => {
        await client.call(reopenFinding, { params: { id }, query })
        return `finding ${id} open`
      }),
    )
  addWaitOption(scan.command('validate <ids...>'))
    .description('have an agent try to confirm findings')
    .action(callForEach(context, validate))
  addRemedies(scan, context)
}

function addCheckoutOption(command: Command): Command {
  return command.option('--checkout <folder>', 'your clone of the repository, from which code is shown', '.')
}

function addFindingsList(scan: Command, context: CliContext): void {
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
    .action((_name: string, flags: ListFlags, command: Command) => list(flags, { command, context }))
}

function addRemedies(scan: Command, context: CliContext): void {
  addWaitOption(scan.command('patch <id>'))
    .description('have an agent repair a finding, on a branch of its own')
    .action(callService(context, patch))
  const list = scan.command('patches <id>').description('patches that were proposed for a finding, the newest first')
  addList(list, context, patches)
  scan
    .command('pr <id>')
    .description('open the pull request of the newest patch that passed')
    .action(callService(context, openPullRequest))
}

/** From a clone on this machine; what it does not have is not shown. */
function readFrom(folder: string): ReadCode {
  return async (commit, path) => {
    if (!/^[0-9a-f]{7,64}$/.test(commit)) return undefined
    return runUserGit(['-C', folder, 'cat-file', 'blob', `${commit}:${path}`], '', 'no such file').catch(
      () => undefined,
    )
  }
}

const findings: ListCommand<Finding, ListFlags> = {
  route: listFindings,
  pages: 'all',
  parameter: 'name',
  nameOf: (item) => item.id,
  filters: ({ severity, state, validation, category, slice, recommended = false }) => ({
    severity,
    state,
    validationStatus: validation,
    category,
    sliceID: slice,
    recommended,
  }),
  columns: (now) => [
    { title: 'ID', value: (item) => item.id },
    { title: 'SEVERITY', value: (item) => item.severity },
    { title: 'SURE', value: (item) => item.confidence },
    { title: 'STATE', value: (item) => item.state },
    { title: 'VALIDATION', value: (item) => item.validationStatus },
    { title: 'CHANGED', value: (item) => formatAge(item.updatedAt, now) },
    { title: 'CATEGORY', wide: true, value: (item) => item.category },
    { title: 'SLICE', wide: true, value: (item) => item.sliceID },
    { title: 'PLACE', value: ({ filePath, line }) => filePath && `${filePath}${line ? `:${line}` : ''}` },
    { title: 'TITLE', value: (item) => item.title },
  ],
  empty: (_scope, { args: [name] }) => `no findings of ${name}; \`${commandHint(`scan runs ${name}`)}\` shows its runs`,
  more: () => 'there are more: raise --limit',
}

async function list(flags: ListFlags, { command, context }: Invocation): Promise<void> {
  const call = { options: readGlobalOptions(command), context, flags, args: command.args }
  const request = requestOf(findings, call)
  const client = await context.connect(call.options)
  const found = await readList(findings, request, client, context)
  if (found.items.length === 0 && call.options.output === 'table') await noteLastRun(client, call)
  const isText = flags.code === true && call.options.output === 'table' && found.items.length > 0
  if (!isText) return printListed(findings, call, found)
  const read = readFrom(flags.checkout)
  for (const [index, item] of found.items.entries())
    context.terminal.print(`${index === 0 ? '' : '\n---\n\n'}${await describeFinding(item, read)}`)
}

/** Nothing found is no good news where nothing was looked at. */
async function noteLastRun(client: Client, { options, args, context }: ListCall<ListFlags>): Promise<void> {
  const [name = ''] = args
  const { items } = await client.call(listScanRuns, {
    params: { name },
    query: { ...namespaceQuery(options), limit: 1 },
  })
  const [last] = items
  if (last === undefined) return context.terminal.note(`${name} has not been looked at: it has no runs`)
  if (last.phase === 'failed')
    return context.terminal.note(`the last run failed: ${last.errorMessage ?? last.summary ?? 'it does not say why'}`)
  if (last.completedAt === undefined) context.terminal.note(`run ${last.id} is still under way`)
}

async function show(
  { client, options, context, query }: ServiceCall,
  id: string,
  { checkout }: CodeFlags,
): Promise<void> {
  const finding = await client.call(getFinding, { params: { id }, query })
  await printAnswer(context, options, finding, () => describeFinding(finding, readFrom(checkout)))
}

async function validate({ client, context, query }: ServiceCall, id: string, { wait }: WaitFlags): Promise<string> {
  const { validationTaskName: task } = await client.call(validateFinding, { params: { id }, query })
  if (!wait) return `finding ${id} is being validated by task ${task}`
  const describe = () => `task ${task} validates finding ${id}`
  const read = () => client.call(getFinding, { params: { id }, query })
  const hasEnded = ({ validationStatus }: Finding) => validationStatus !== 'pending'
  const validated = await waitUntil({ read, hasEnded, describe }, context)
  if (validated.validationStatus !== 'skipped') return `finding ${id} ${describeValidation(validated)}`
  const again = `${commandHint(`task get ${task}`)} shows the task`
  throw new SvcError('UpstreamFailed', `finding ${id} was not validated, ${describeValidation(validated)}; ${again}`)
}

async function awaitPatch({ client, context, query }: ServiceCall, { id, findingID, taskName }: PatchProposal) {
  const list = () => client.call(listFindingPatches, { params: { id: findingID }, query })
  const read = async () => (await list()).items.find((item) => item.id === id)
  const hasEnded = ({ status }: PatchProposal) => status !== 'pending'
  return waitUntil({ read, hasEnded, describe: () => `task ${taskName} writes a patch` }, context)
}

async function patch(call: ServiceCall, id: string, { wait }: WaitFlags): Promise<void> {
  const { client, options, context, query } = call
  const proposal = await client.call(patchFinding, { params: { id }, query })
  if (wait) {
    const ended = await awaitPatch(call, proposal)
    const { status, failure: why = 'it does not say why', summary = 'the patch passed', branch } = ended
    const text = `${summary}, on branch ${branch}; \`${commandHint(`scan pr ${id}`)}\` opens its pull request`
    return answerEnded(call, ended, { text, failure: status === 'failed' ? `the patch failed: ${why}` : undefined })
  }
  const next = `\`${commandHint(`scan patches ${id}`)}\` shows what came of it`
  await printAnswer(context, options, proposal, () => `task ${proposal.taskName} writes a patch; ${next}`)
}

const patches: ListCommand<PatchProposal> = {
  route: listFindingPatches,
  parameter: 'id',
  nameOf: (item) => item.id,
  columns: (now) => [
    { title: 'ID', value: (item) => item.id },
    { title: 'STATUS', value: (item) => item.status },
    { title: 'FILES', value: (item) => item.changedFiles?.length },
    { title: 'RISK', value: (item) => item.risk },
    { title: 'ASKED', value: (item) => formatAge(item.createdAt, now) },
    { title: 'BRANCH', value: (item) => item.branch },
    { title: 'WHAT', value: (item) => item.failure ?? item.summary },
  ],
  empty: (_scope, { args: [id] }) => `no patches of ${id}; \`${commandHint(`scan patch ${id}`)}\` has one written`,
}

async function openPullRequest({ client, options, context, query }: ServiceCall, id: string): Promise<void> {
  const made = await client.call(createFindingPullRequest, { params: { id }, query })
  await printAnswer(context, options, made, () => `${made.prURL} (${made.status})`)
}
