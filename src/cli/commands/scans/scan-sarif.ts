// scan export, scan import: findings as SARIF, for other programs and from other scanners.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { listRepositoryScans } from '../../../contract/api/scans/routes.ts'
import {
  exportFindings,
  getScanImport,
  importFindings,
  type ScanImport,
  sarifType,
} from '../../../contract/api/scans/sarif-routes.ts'
import type { RepositoryScan } from '../../../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../../../errors.ts'
import { callService, withCall } from '../../action.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { runUserGit } from '../../files/run-git.ts'
import { namespaceQuery } from '../../global-options.ts'
import { describeScope, printAnswer } from '../../output/answers.ts'
import { listPages } from '../../output/paging.ts'

type ImportFlags = { scan?: string; commit?: string; root?: string }

const pause = () => new Promise<void>((resolve) => void setTimeout(resolve, 300))

export function addSarifCommands(scan: Command, context: CliContext): void {
  scan
    .command('export <name>')
    .description('print what was found and is not fixed, for code hosts and editors')
    .requiredOption('--sarif', 'as SARIF 2.1.0; findings that were dismissed are in it as suppressed')
    .action(
      callService(context, async ({ client, query }, name: string) => {
        const answer = await client.open(exportFindings, { params: { name }, query })
        context.terminal.print(await answer.text())
      }),
    )
  scan
    .command('import <file>')
    .description('take in what a scanner found (a SARIF 2.1.0 file, - for standard input), to be validated and patched')
    .option('--scan <name>', 'the scan that it belongs to (default: the only one)')
    .option('--commit <id>', 'commit that was scanned (default: what the file says, else the head of the branch)')
    .option(
      '--root <folder>',
      'folder in which the scanner ran, where names could be of several files (default: the repository around this folder)',
    )
    .action(withCall(context, importFile))
}

/** The only scan, for people who have one. */
async function findScan(client: Client, { options }: CliCall): Promise<string> {
  const { items } = await listPages<RepositoryScan>(client, listRepositoryScans, {
    query: namespaceQuery(options),
    limit: 10,
  })
  const names = items.map(({ metadata }) => metadata.name)
  const [only, ...others] = names
  if (only !== undefined && others.length === 0) return only
  const scope = describeScope(options)
  const advice =
    only === undefined
      ? `there are no scans${scope}; \`${commandHint('scan create NAME --repo URL --agent AGENT')}\` makes one`
      : `there are several scans${scope} (${names.join(', ')}): name one with --scan`
  throw new SvcError('InvalidRequest', advice)
}

/** The top of the repository around this folder, in which scanners usually run. */
async function findRoot({ root }: ImportFlags): Promise<string> {
  const folder = root ?? (await runUserGit(['rev-parse', '--show-toplevel'], '', 'no repository').catch(() => '.'))
  return pathToFileURL(resolve(folder.trim())).href
}

async function waitForEnd(client: Client, started: ScanImport, { options }: CliCall): Promise<ScanImport> {
  const params = { name: started.repositoryScan, importID: started.id }
  let record = started
  while (record.phase === 'pending') {
    await pause()
    record = await client.call(getScanImport, { params, query: namespaceQuery(options) })
  }
  return record
}

function describe({ id, tools, repositoryScan, ...counts }: ScanImport): string {
  const { acceptedFindings, newFindings, droppedFindings, duplicateResults = 0, fixedFindings } = counts
  const skipped = Object.entries(counts.skippedReasons ?? {}).map(([reason, count]) => `${count} ${reason}`)
  const parts = [
    `${acceptedFindings} findings kept, ${newFindings} of them new`,
    ...(droppedFindings > 0 ? [`${droppedFindings} dropped`] : []),
    ...(duplicateResults > 0 ? [`${duplicateResults} the same as another`] : []),
    ...(skipped.length > 0 ? [`${skipped.join(' and ')} in the file`] : []),
    ...(fixedFindings > 0 ? [`${fixedFindings} earlier ones fixed`] : []),
  ]
  const next = `\`${commandHint(`scan findings ${repositoryScan}`)}\` lists them`
  return `${id} (${tools.join(', ') || 'no scanner'}): ${parts.join(', ')}; ${next}`
}

async function importFile(call: CliCall, file: string, flags: ImportFlags): Promise<void> {
  const { options, context } = call
  const body = await context.readBytes(file)
  const client = await context.connect(options)
  const name = flags.scan ?? (await findScan(client, call))
  const query = { ...namespaceQuery(options), commit: flags.commit, root: await findRoot(flags) }
  const raw = { body, contentType: sarifType }
  const started = await client.call(importFindings, { params: { name }, query, raw })
  const ended = await waitForEnd(client, started, call)
  if (ended.phase === 'failed') throw new SvcError('InvalidRequest', `${ended.id} failed: ${ended.errorMessage}`)
  await printAnswer(context, options, ended, () => describe(ended))
}
