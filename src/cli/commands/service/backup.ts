// backup and restore: copies the store of a service, of this machine or on a cluster, to a folder, and restores it from one.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import type { BackupNote } from '../../../client/machine.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { mayStop, requireLocal, type StopFlags } from '../../follow/stopping.ts'
import { readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'

type ClusterFlags = { cluster?: boolean; kubeconfig?: string }
type BackupFlags = ClusterFlags & { withKey?: boolean; withSecrets?: boolean }
type RestoreFlags = ClusterFlags & StopFlags & { replace?: boolean }

/** Settings of the cluster that the line names; the rest come from the environment and the file of settings. */
function readClusterOptions(command: Command, { kubeconfig }: ClusterFlags): GlobalOptions {
  return readGlobalOptions(command, kubeconfig === undefined ? {} : { kubeconfig })
}

/** InvalidRequest where a flag of the other kind of service stands beside. */
function requireFlags(cluster: boolean, flags: Record<string, unknown>): void {
  const wrong = Object.keys(flags).find((flag) => flags[flag] !== undefined)
  if (wrong === undefined) return
  throw new SvcError('InvalidRequest', cluster ? `${wrong} is not for --cluster` : `${wrong} needs --cluster`)
}

export function addBackupCommand(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description(
      'copy the store of this machine’s service, or of one on a cluster, into a new folder; the service may run',
    )
    .argument('<folder>', 'new or empty folder of the backup')
    .option('--with-key', 'also the key that opens the secrets: whoever has the backup can then read them')
    .option('--cluster', 'of a service on a cluster: its objects, and the records of SVC_DATABASE_URL')
    .option('--kubeconfig <file>', 'with --cluster: the file that names the cluster')
    .option(
      '--with-secrets',
      'with --cluster: also the Secrets that objects name: whoever has the backup can read them',
    )
    .action(async (folder: string, flags: BackupFlags, command: Command) => {
      if (flags.cluster) return await backupCluster(context, command, { folder, flags })
      requireFlags(false, { '--with-secrets': flags.withSecrets, '--kubeconfig': flags.kubeconfig })
      const options = readGlobalOptions(command)
      requireLocal(context, options, 'backup')
      const note = await context.backup(options, folder, { withKey: flags.withKey === true })
      await printAnswer(context, options, note, () => describeBackup(folder, note))
    })
}

export function addRestoreCommand(program: Command, context: CliContext): void {
  program
    .command('restore')
    .description('put a backup into an empty data folder, or an empty cluster')
    .argument('<folder>', 'folder of the backup')
    .option('--replace', 'first stop the service that uses the data folder, and move its content aside')
    .option('-y, --yes', 'with --replace: do not ask while tasks run')
    .option('--cluster', 'into an empty cluster, and the empty database of SVC_DATABASE_URL')
    .option('--kubeconfig <file>', 'with --cluster: the file that names the cluster')
    .action(async (folder: string, flags: RestoreFlags, command: Command) => {
      if (flags.cluster) return await restoreCluster(context, command, { folder, flags })
      requireFlags(false, { '--kubeconfig': flags.kubeconfig })
      const options = readGlobalOptions(command)
      requireLocal(context, options, 'restore')
      if (flags.replace && !(await mayStop(context, options, flags)))
        return context.terminal.note('nothing was changed')
      const { note, aside } = await context.restore(options, folder, { replace: flags.replace === true })
      const moved = aside === undefined ? '' : `\nthe previous content is in ${aside}`
      await printAnswer(context, options, note, () => `${describeRestored(note)}${moved}`)
    })
}

type ClusterRun<Flags> = { folder: string; flags: Flags }

async function backupCluster(context: CliContext, command: Command, { folder, flags }: ClusterRun<BackupFlags>) {
  requireFlags(true, { '--with-key': flags.withKey })
  const options = readClusterOptions(command, flags)
  const note = await context.backupCluster(options, folder, { withSecrets: flags.withSecrets === true })
  await printAnswer(context, options, note, () => describeClusterBackup(folder, note))
}

async function restoreCluster(context: CliContext, command: Command, { folder, flags }: ClusterRun<RestoreFlags>) {
  requireFlags(true, { '--replace': flags.replace })
  const options = readClusterOptions(command, flags)
  const note = await context.restoreCluster(options, folder)
  await printAnswer(context, options, note, () => describeClusterRestored(note))
}

function describeClusterBackup(folder: string, { secrets, hasKey, cluster }: BackupNote): string {
  const named = hasKey
    ? 'in it, for whoever has the backup to read'
    : 'not in it: keep them as well, or add --with-secrets'
  return `backup in ${folder}: ${cluster?.objects} objects, ${cluster?.records} records; ${secrets} Secrets that they name are ${named}`
}

function describeClusterRestored({ takenAt, secrets, hasKey, cluster }: BackupNote): string {
  const restored = `restored ${cluster?.objects} objects and ${cluster?.records} records as of ${takenAt}; start the replicas now`
  return secrets === 0 || hasKey ? restored : `${restored}\n${secrets} Secrets that they name were not in the backup`
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
