// backup and restore: copies the store of an embedded service to a folder, and restores it from one.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import type { BackupNote } from '../../../client/machine.ts'
import type { CliContext } from '../../context.ts'
import { mayStop, requireLocal, type StopFlags } from '../../follow/stopping.ts'
import { readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'

type BackupFlags = { withKey?: boolean }
type RestoreFlags = StopFlags & { replace?: boolean }

export function addBackupCommand(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description('copy the store of this machine’s service into a new folder; the service may run')
    .argument('<folder>', 'new or empty folder of the backup')
    .option('--with-key', 'also the key that opens the secrets: whoever has the backup can then read them')
    .action(async (folder: string, flags: BackupFlags, command: Command) => {
      const options = readGlobalOptions(command)
      requireLocal(context, options, 'backup')
      const note = await context.backup(options, folder, { withKey: flags.withKey === true })
      await printAnswer(context, options, note, () => describeBackup(folder, note))
    })
}

export function addRestoreCommand(program: Command, context: CliContext): void {
  program
    .command('restore')
    .description('put a backup into an empty data folder')
    .argument('<folder>', 'folder of the backup')
    .option('--replace', 'first stop the service that uses the data folder, and move its content aside')
    .option('-y, --yes', 'with --replace: do not ask while tasks run')
    .action(async (folder: string, flags: RestoreFlags, command: Command) => {
      const options = readGlobalOptions(command)
      requireLocal(context, options, 'restore')
      if (flags.replace && !(await mayStop(context, options, flags)))
        return context.terminal.note('nothing was changed')
      const { note, aside } = await context.restore(options, folder, { replace: flags.replace === true })
      const moved = aside === undefined ? '' : `\nthe previous content is in ${aside}`
      await printAnswer(context, options, note, () => `${describeRestored(note)}${moved}`)
    })
}

function describeBackup(folder: string, { bodies, secrets, hasKey }: BackupNote): string {
  const key = hasKey ? 'with the key that opens them' : 'sealed; keep the secret key as well, it is not in the backup'
  return `backup in ${folder}: the store, ${bodies} bodies, ${secrets} secrets (${key})`
}

function describeRestored({ takenAt, secrets, hasKey }: BackupNote): string {
  const restored = `restored the store as of ${takenAt}; start it with \`${commandHint('up')}\``
  if (secrets === 0 || hasKey) return restored
  return `${restored}\n${secrets} secrets are sealed: they need the secret key of the service that was backed up`
}
