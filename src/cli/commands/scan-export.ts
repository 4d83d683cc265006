// scan export: what was found, for the programs that read it.
import type { Command } from 'commander'
import type { Finding } from '../../contract/api/security/findings.ts'
import { getRepositoryScan, listFindings } from '../../contract/api/security/routes.ts'
import { exportSarif } from '../../rules/scans/sarif-export.ts'
import type { CliContext } from '../context.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'
import { listPages } from '../paging.ts'

export function addExportCommand(scan: Command, context: CliContext): void {
  scan
    .command('export <name>')
    .description('print what was found and is not fixed, for code hosts and editors')
    .requiredOption('--sarif', 'as SARIF 2.1.0; findings that were dismissed are in it as suppressed')
    .action((name: string, _given: unknown, command: Command) => printSarif(name, command, context))
}

async function printSarif(name: string, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const target = { params: { name }, query: namespaceOf(options) }
  const { spec, status } = await client.call(getRepositoryScan, target)
  const { items } = await listPages<Finding>(client, listFindings, target)
  const { repoURL } = spec
  const { branch, lastProcessedCommit: commit } = status ?? {}
  const log = exportSarif(items, { scan: name, repoURL, branch, commit, version: context.version })
  context.terminal.print(JSON.stringify(log, undefined, 2))
}
