// scan: reviews of repositories for weaknesses.
import type { Command } from 'commander'
import type { CliContext } from '../../context.ts'
import { addFindingCommands } from './scan-findings.ts'
import { addRepositoryCommands } from './scan-repositories.ts'
import { addSarifCommands } from './scan-sarif.ts'
import { addSliceCommands } from './scan-slices.ts'

export function addScanCommands(program: Command, context: CliContext): void {
  const scan = program.command('scan').description('reviews of repositories for security findings')
  addRepositoryCommands(scan, context)
  addFindingCommands(scan, context)
  addSarifCommands(scan, context)
  addSliceCommands(scan, context)
}
