// scan create, list, get, run, runs, delete: repositories that are scanned, and their runs.
import { type Command, Option } from 'commander'
import { typed } from '../../../client/typed.ts'
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
import { dropUndefined } from '../../../contract/schema/json.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { addAllNamespacesOption, namespaceOf, readCount, readGlobalOptions, scopeOf } from '../../global-options.ts'
import { describeScope, printAnswer, printList } from '../../output/answers.ts'
import { formatAge, formatYaml } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

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
}
type Invocation = { command: Command; context: CliContext }

export function addRepositoryCommands(scan: Command, context: CliContext): void {
  addCreate(scan, context)
  addAllNamespacesOption(scan.command('list'))
    .alias('ls')
    .description('repositories that are scanned')
    .action((_given: unknown, command: Command) => list({ command, context }))
  scan
    .command('get <name>')
    .description('a scan with its settings and what is known of it')
    .action((name: string, _given: unknown, command: Command) => get(name, { command, context }))
  scan
    .command('run <name>')
    .description('start a run; one is active at a time')
    .option('--retry-failed', 'review only what failed or was not reached in the last run, at the same commit')
    .action((name: string, given: { retryFailed?: boolean }, command: Command) =>
      run(name, given, { command, context }),
    )
  scan
    .command('runs <name>')
    .description('runs of a scan, those that started last first')
    .option('--limit <count>', 'at most so many', '20')
    .action((name: string, { limit }: { limit: string }, command: Command) => runs(name, limit, { command, context }))
  scan
    .command('delete <names...>')
    .alias('rm')
    .description('remove one scan, or several, with all that was found')
    .action((names: string[], _given: unknown, command: Command) => remove(names, { command, context }))
}

function addCreate(scan: Command, context: CliContext): void {
  scan
    .command('create <name>')
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
    .action((name: string, given: CreateFlags, command: Command) => create(name, given, { command, context }))
}

function readCost(text: string): number {
  const cost = Number(text)
  if (text.trim() !== '' && Number.isFinite(cost) && cost > 0) return cost
  throw new SvcError('InvalidRequest', `--max-cost ${text}: must be a number above 0`)
}

function readBudget({ maxTokens, maxCost }: CreateFlags) {
  if (maxTokens === undefined && maxCost === undefined) return undefined
  return {
    ...(maxTokens !== undefined && { maxTokens: readCount('--max-tokens', maxTokens) }),
    ...(maxCost !== undefined && { maxCost: readCost(maxCost) }),
  }
}

async function create(name: string, given: CreateFlags, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const { repo: repoURL, agent, secret, validation: validationMode } = given
  const { branch, subPath, schedule, timeZone } = given
  const spec = {
    repoURL,
    analysisAgentRef: { name: agent },
    ...dropUndefined({ branch, subPath, schedule, timeZone, validationMode, budget: readBudget(given) }),
    ...(secret !== undefined && { gitSecretRef: { name: secret } }),
    ...(given.codeScanning && { uploadToCodeScanning: true }),
  }
  const client = await context.connect(options)
  const made = await client.call(createRepositoryScan, { body: { name, ...namespaceOf(options), spec } })
  const next = `\`${typed(`scan runs ${name}`)}\` shows how far its first run is`
  await printAnswer(context, options, made, () => `scan ${name} created; ${next}`)
}

async function list({ command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { items } = await listPages<RepositoryScan>(client, listRepositoryScans, { query: scopeOf(options) })
  await printList(context, options, {
    items,
    kind: 'RepositoryScan',
    columns: [
      { title: 'NAMESPACE', wide: true, value: ({ metadata }) => metadata.namespace },
      { title: 'NAME', value: ({ metadata }) => metadata.name },
      { title: 'PHASE', value: ({ status }) => status?.phase },
      { title: 'FINDINGS', value: ({ status }) => status?.findingCounts?.total },
      { title: 'CRITICAL', value: ({ status }) => status?.findingCounts?.critical },
      { title: 'HIGH', value: ({ status }) => status?.findingCounts?.high },
      { title: 'SCANNED', value: ({ status }) => formatAge(status?.lastSuccessfulScanAt, context.now()) },
      { title: 'REPOSITORY', value: ({ spec }) => spec.repoURL },
    ],
    empty: `no scans${describeScope(options)}; \`${typed('scan create NAME --repo URL --agent AGENT')}\` makes one`,
  })
}

async function get(name: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const scan = await client.call(getRepositoryScan, { params: { name }, query: namespaceOf(options) })
  await printAnswer(context, options, scan, () => formatYaml(scan))
}

async function run(
  name: string,
  { retryFailed = false }: { retryFailed?: boolean },
  { command, context }: Invocation,
): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const target = { params: { name }, query: namespaceOf(options) }
  const started = await client.call(startScanRun, { ...target, body: { retryFailed } })
  const next = `\`${typed(`scan runs ${name}`)}\` shows how far it is`
  await printAnswer(context, options, started, () => `run ${started.id} started; ${next}`)
}

async function runs(name: string, limit: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const most = readCount('--limit', limit)
  const client = await context.connect(options)
  const given = { params: { name }, query: namespaceOf(options), limit: most }
  const { items } = await listPages<ScanRun>(client, listScanRuns, given)
  await printList(context, options, {
    items: items.map((item) => ({ ...item, name: item.id })),
    columns: [
      { title: 'ID', value: (item) => item.id },
      { title: 'PHASE', value: (item) => item.phase },
      { title: 'STAGE', value: (item) => (item.stage === 'done' ? undefined : item.stage) },
      { title: 'REVIEWED', value: (item) => `${item.reviewedSliceCount}/${item.sliceCount}` },
      { title: 'KEPT', value: (item) => item.acceptedFindings },
      { title: 'DROPPED', value: (item) => item.droppedFindings },
      { title: 'TOKENS', value: (item) => item.tokens },
      { title: 'STARTED', value: (item) => formatAge(item.startedAt, context.now()) },
      { title: 'WHAT', value: (item) => item.errorMessage ?? item.summary },
    ],
    empty: `no runs of ${name} yet; \`${typed(`scan run ${name}`)}\` starts one`,
  })
}

async function remove(names: string[], { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  await doEachName(names, context.terminal, async (name) => {
    await client.call(deleteRepositoryScan, { params: { name }, query: namespaceOf(options) })
    context.terminal.note(`scan ${name} deleted`)
  })
}
