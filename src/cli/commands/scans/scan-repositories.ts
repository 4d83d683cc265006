// scan create, list, get, run, runs, delete: repositories that are scanned, and their runs.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  createRepositoryScan,
  deleteRepositoryScan,
  getRepositoryScan,
  listRepositoryScans,
  listScanRuns,
  startScanRun,
} from '../../../contract/api/scans/routes.ts'
import type { ScanRun } from '../../../contract/api/scans/runs.ts'
import type { RepositoryScan } from '../../../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { callForEach, callService, openCall, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { addWaitOption, answerEnded, waitUntil } from '../../follow/wait-until.ts'
import { addAllNamespacesOption, readCountFlag } from '../../global-options.ts'
import { requireNamed } from '../../objects/references.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge, formatYaml } from '../../output/output.ts'
import { addFindingCommands } from './scan-findings.ts'
import { addSarifCommands } from './scan-sarif.ts'
import { addSliceCommands } from './scan-slices.ts'

type CreateFlags = {
  repo: string
  agent: string
  secret?: string
  branch?: string
  subPath?: string
  schedule?: string
  timeZone?: string
  validation?: 'off' | 'light' | 'full'
  maxTokens?: string
  maxCost?: string
  codeScanning?: boolean
  wait?: boolean
}
type Invocation = { command: Command; context: CliContext }

export function addRepositoryCommands(scan: Command, context: CliContext): void {
  addCreate(scan, context)
  const list = addAllNamespacesOption(scan.command('list')).alias('ls').description('repositories that are scanned')
  addList(list, context, scans)
  scan
    .command('get <name>')
    .description('a scan with its settings and what is known of it')
    .action(callService(context, get))
  addWaitOption(scan.command('run <name>'))
    .description('start a run; one is active at a time')
    .option('--retry-failed', 'review only what failed or was not reached in the last run, at the same commit')
    .action(callService(context, run))
  const listRuns = scan
    .command('runs <name>')
    .description('runs of a scan, those that started last first')
    .option('--limit <count>', 'at most so many', '20')
  addList(listRuns, context, runs)
  scan
    .command('delete <names...>')
    .alias('rm')
    .description('remove one scan, or several, with all that was found')
    .action(
      callForEach(context, async ({ client, query }, name) => {
        await client.call(deleteRepositoryScan, { params: { name }, query })
        return `scan ${name} deleted`
      }),
    )
}

function addCreate(scan: Command, context: CliContext): void {
  addWaitOption(scan.command('create <name>'))
    .description('have a repository scanned; the first run starts by itself')
    .requiredOption('--repo <url>', 'address of the repository')
    .requiredOption('--agent <name>', 'agent that reviews it')
    .option('--secret <name>', 'Secret with the login of the repository')
    .option('--branch <branch>', 'branch to scan (default: the default branch of the repository)')
    .option('--sub-path <folder>', 'only this folder of it')
    .option('--schedule <cron>', 'when it runs, such as "0 3 * * *" (default: on request)')
    .option('--time-zone <zone>', 'IANA time zone of the schedule (default: UTC)')
    .addOption(
      new Option('--validation <mode>', 'how thoroughly findings are confirmed').choices(['off', 'light', 'full']),
    )
    .option('--max-tokens <count>', 'most tokens of one run')
    .option('--max-cost <dollars>', 'most cost of one run, in US dollars')
    .option('--code-scanning', 'show what is found in the code scanning of the code host')
    .action((name: string, flags: CreateFlags, command: Command) => create(name, flags, { command, context }))
}

function readCost(text: string): number {
  const cost = Number(text)
  if (text.trim() !== '' && Number.isFinite(cost) && cost > 0) return cost
  throw new SvcError('InvalidRequest', `--max-cost ${text}: must be a number above 0`)
}

function readBudget({ maxTokens, maxCost }: CreateFlags) {
  if (maxTokens === undefined && maxCost === undefined) return undefined
  return {
    ...(maxTokens !== undefined && { maxTokens: readCountFlag('--max-tokens', maxTokens) }),
    ...(maxCost !== undefined && { maxCost: readCost(maxCost) }),
  }
}

async function create(name: string, flags: CreateFlags, { command, context }: Invocation): Promise<void> {
  const { repo: repoURL, agent, secret, validation: validationMode } = flags
  const { branch, subPath, schedule, timeZone } = flags
  const spec = {
    repoURL,
    analysisAgentRef: { name: agent },
    ...dropUndefined({ branch, subPath, schedule, timeZone, validationMode, budget: readBudget(flags) }),
    ...(secret !== undefined && { gitSecretRef: { name: secret } }),
    ...(flags.codeScanning && { uploadToCodeScanning: true }),
  }
  const { client, options, query } = await openCall(command, context)
  await requireNamed('agent', agent, { client, options, context })
  if (secret !== undefined) await requireNamed('secret', secret, { client, options, context })
  const made = await client.call(createRepositoryScan, { body: { name, ...query, spec } })
  if (flags.wait) {
    context.terminal.note(`scan ${name} created`)
    return waitForRun({ client, options, context, query }, name)
  }
  const next = `\`${commandHint(`scan runs ${name}`)}\` shows how far its first run is`
  await printAnswer(context, options, made, () => `scan ${name} created; ${next}`)
}

const scans: ListCommand<RepositoryScan> = {
  route: listRepositoryScans,
  pages: 'all',
  kind: 'RepositoryScan',
  columns: (now) => [
    { title: 'NAMESPACE', wide: true, value: ({ metadata }) => metadata.namespace },
    { title: 'NAME', value: ({ metadata }) => metadata.name },
    { title: 'PHASE', value: ({ status }) => status?.phase },
    { title: 'FINDINGS', value: ({ status }) => status?.findingCounts?.total },
    { title: 'CRITICAL', value: ({ status }) => status?.findingCounts?.critical },
    { title: 'HIGH', value: ({ status }) => status?.findingCounts?.high },
    { title: 'SCANNED', value: ({ status }) => formatAge(status?.lastSuccessfulScanAt, now) },
    { title: 'REPOSITORY', value: ({ spec }) => spec.repoURL },
  ],
  empty: (scope) => `no scans${scope}; \`${commandHint('scan create NAME --repo URL --agent AGENT')}\` makes one`,
}

async function get({ client, options, context, query }: ServiceCall, name: string): Promise<void> {
  const scan = await client.call(getRepositoryScan, { params: { name }, query })
  await printAnswer(context, options, scan, () => formatYaml(scan))
}

/** Of the run of that id, or the newest. */
async function waitForRun(call: ServiceCall, name: string, id?: string): Promise<void> {
  const { client, context, query } = call
  const list = () => client.call(listScanRuns, { params: { name }, query: { ...query, limit: 20 } })
  const read = async () => (await list()).items.find((item) => id === undefined || item.id === id)
  const describe = (seen: ScanRun | undefined) =>
    seen === undefined ? `${name} is going to be scanned` : `${name}: ${seen.stage}, ${reviewed(seen)} reviewed`
  const hasEnded = ({ completedAt }: ScanRun) => completedAt !== undefined
  const ended = await waitUntil({ read, hasEnded, describe }, context)
  const failure =
    ended.phase === 'failed' ? `run ${ended.id} failed: ${ended.errorMessage ?? 'it does not say why'}` : undefined
  const next = `\`${commandHint(`scan findings ${name}`)}\` shows what was found`
  const text = `run ${ended.id} ${ended.phase}: ${ended.summary ?? `${reviewed(ended)} reviewed`}; ${next}`
  await answerEnded(call, ended, { text, failure })
}

const reviewed = ({ reviewedSliceCount, sliceCount }: ScanRun): string => `${reviewedSliceCount}/${sliceCount}`

async function run(
  call: ServiceCall,
  name: string,
  { retryFailed = false, wait }: { retryFailed?: boolean; wait?: boolean },
): Promise<void> {
  const { client, options, context, query } = call
  const started = await client.call(startScanRun, { params: { name }, query, body: { retryFailed } })
  if (wait) return waitForRun(call, name, started.id)
  const next = `\`${commandHint(`scan runs ${name}`)}\` shows how far it is`
  await printAnswer(context, options, started, () => `run ${started.id} started; ${next}`)
}

const runs: ListCommand<ScanRun> = {
  route: listScanRuns,
  pages: 'all',
  parameter: 'name',
  nameOf: (item) => item.id,
  columns: (now) => [
    { title: 'ID', value: (item) => item.id },
    { title: 'PHASE', value: (item) => item.phase },
    { title: 'STAGE', value: (item) => (item.stage === 'done' ? undefined : item.stage) },
    { title: 'REVIEWED', value: reviewed },
    { title: 'KEPT', value: (item) => item.acceptedFindings },
    { title: 'DROPPED', value: (item) => item.droppedFindings },
    { title: 'TOKENS', value: (item) => item.tokens },
    { title: 'STARTED', value: (item) => formatAge(item.startedAt, now) },
    { title: 'WHAT', value: (item) => item.errorMessage ?? item.summary },
  ],
  empty: (_scope, { args: [name] }) => `no runs of ${name} yet; \`${commandHint(`scan run ${name}`)}\` starts one`,
}

export function addScanCommands(program: Command, context: CliContext): void {
  const scan = program.command('scan').description('reviews of repositories for security findings')
  addRepositoryCommands(scan, context)
  addFindingCommands(scan, context)
  addSarifCommands(scan, context)
  addSliceCommands(scan, context)
}
