// install-service: this program as a service of the user, which starts at login.
import { type Command, Option } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { type ServiceFile, serviceManagers } from '../../../client/machine.ts'
import type { CliContext } from '../../context.ts'
import { mayStop, requireLocal, type StopFlags } from '../../follow/stopping.ts'
import { readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addSettingOptions } from './service.ts'

type InstallFlags = StopFlags & { print?: boolean; uninstall?: boolean; manager?: ServiceFile['manager'] }

export function addInstallServiceCommand(program: Command, context: CliContext): void {
  const install = program
    .command('install-service')
    .description('install svc as a service of this user, which starts at login (systemd, launchd)')
    .option('--print', 'only print the file that would be installed')
    .option('--uninstall', 'stop the service and take its file away; its data stay')
    .addOption(
      new Option('--manager <name>', 'with --print: for this one instead of the one of this system').choices(
        serviceManagers,
      ),
    )
    .option('-y, --yes', 'stop running tasks without asking')
    .addHelpText(
      'after',
      `
Run it again after an upgrade, or with other settings: it replaces the file and starts the service anew. The settings of this
line and of SVC_* variables go with it; keys and tokens do not.`,
    )
  const own = install.options.map((option) => option.attributeName())
  addSettingOptions(install, context).action((_flags: unknown, command: Command) =>
    installOrRemove(command, own, context),
  )
}

async function installOrRemove(command: Command, own: string[], context: CliContext): Promise<void> {
  const flags = command.opts<InstallFlags & Record<string, unknown>>()
  const settings = Object.fromEntries(Object.entries(flags).filter(([name]) => !own.includes(name)))
  const options = readGlobalOptions(command, settings)
  const { terminal } = context
  if (flags.print) {
    const file = await context.describeService(options, flags.manager)
    return printAnswer(context, options, file, () => file.text.trimEnd())
  }
  requireLocal(context, options, 'install-service')
  if (!(await mayStop(context, options, flags))) return terminal.note('nothing was changed')
  if (flags.uninstall) {
    const wasThere = await context.uninstallService()
    return terminal.note(wasThere ? 'the service is uninstalled; its data are kept' : 'no service is installed')
  }
  describeInstalled(await context.installService(options), context)
}

type Installed = Awaited<ReturnType<CliContext['installService']>>

function describeInstalled({ path, manager, log, leftOut, isNew }: Installed, { terminal }: CliContext): void {
  terminal.note(`${isNew ? 'installed' : 'updated'} ${path} and started it; it starts by itself when you log in`)
  terminal.note(`its log: ${manager === 'systemd' ? `${log} -f` : `tail -f ${log}`}`)
  if (manager === 'systemd') terminal.note('to have it run while nobody is logged in: loginctl enable-linger')
  if (leftOut.length === 0) return
  terminal.note(`it does not have your ${leftOut.join(', ')}; keep a key as a secret, so that it needs none:`)
  terminal.note(
    `  ${commandHint(`provider create main --key-from-env ${leftOut.find((name) => name.endsWith('_KEY')) ?? 'VARIABLE'}`)}`,
  )
}
