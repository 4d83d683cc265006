// up, down, status, doctor and config: the local service itself.
import { type Command, type Help, Option } from 'commander'
import type { DoctorFinding } from '../../../client/machine.ts'
import { getReadiness } from '../../../contract/api/service/health.ts'
import { listSettings } from '../../../contract/api/service/settings.ts'
import { withCall } from '../../action.ts'
import type { CliCall, CliContext, GlobalOptions, SettingHelp, SettingValue } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { countTasks, describeCount, findService, mayStop, requireLocal, type StopFlags } from '../../follow/stopping.ts'
import { namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { formatFields, formatTable } from '../../output/output.ts'
import { addContextCommands } from './contexts.ts'

const globalFlags = ['--data-dir', '--config-dir']

export function addUpCommand(program: Command, context: CliContext): void {
  const up = program.command('up').description('serve in the foreground; Ctrl-C stops it')
  addSettingOptions(up, context).action((flags: Record<string, unknown>, command: Command) => {
    const options = readGlobalOptions(command, flags)
    const { server, by } = context.target(options)
    if (server !== undefined)
      context.terminal.note(`commands go to ${server} (${by}), not to the service that starts here`)
    return context.serve(options)
  })
}

export function addDownCommand(program: Command, context: CliContext): void {
  program
    .command('down')
    .description('stop the local service; running tasks go on when it starts again')
    .option('-y, --yes', 'do not ask while tasks run')
    .addOption(new Option('--force', 'the same').hideHelp())
    .action(
      withCall(context, async ({ options }, flags: StopFlags) => {
        requireLocal(context, options, 'down')
        if (!(await mayStop(context, options, flags))) return context.terminal.note('it goes on')
        const stopped = await context.stop(options)
        context.terminal.note(stopped ? 'stopped' : 'no service runs on this data folder')
      }),
    )
}

export function addStatusCommand(program: Command, context: CliContext): void {
  program
    .command('status')
    .description('whether the service is ready, and what it is doing')
    .action(withCall(context, showStatus))
}

export function addDoctorCommand(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description('what this machine has for running tasks, what is missing, and how to get it')
    .action(withCall(context, diagnose))
}

export function addConfigCommands(program: Command, context: CliContext): void {
  const config = program.command('config').description('settings of the local service, and services that have a name')
  const print = config
    .command('print')
    .description('every setting of the service that runs, with its value and where that came from')
  addSettingOptions(print, context).action((flags: Record<string, unknown>, command: Command) =>
    printConfig(flags, readGlobalOptions(command, flags), context),
  )
  addContextCommands(config, context)
}

/** Every setting as a flag, except the options that all commands have. */
export function addSettingOptions(command: Command, context: CliContext): Command {
  for (const setting of context.settingHelp()) {
    if (globalFlags.includes(setting.flag)) continue
    const flags = `${setting.flag} ${setting.placeholder}`.trim()
    const option = new Option(flags, describeSetting(setting)).helpGroup(`${setting.group}:`)
    command.addOption(setting.isList ? option.argParser(addToList) : option)
  }
  return command.configureHelp({ formatItem: formatOption })
}

/** As one flag with commas says it. */
function addToList(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`
}

/** The description, and on its own line the allowed values. */
function describeSetting({ help, values, default: fallback, example, isList, environment }: SettingHelp): string {
  const hints = [
    ...(values.length === 0 ? [] : [`one of ${values.join(', ')}`]),
    ...(fallback === '' ? [] : [`default ${fallback}`]),
    ...(example === undefined ? [] : [`example ${example}`]),
    ...(isList ? ['may be repeated'] : []),
    environment,
  ]
  return `${help}\n(${hints.join('; ')})`
}

/** The flag on its own line: the longest leaves no room beside it. */
function formatOption(term: string, _termWidth: number, description: string, helper: Help): string {
  const depth = 6
  const lines = helper.boxWrap(description, (helper.helpWidth ?? 80) - depth - 2).split('\n')
  return [`  ${term}`, ...lines.map((line) => ' '.repeat(depth) + line)].join('\n')
}

async function showStatus({ options, context }: CliCall): Promise<void> {
  const client = await context.connect(options, { start: false })
  const ready = await client.call(getReadiness)
  const counts: Record<string, number> = {}
  for (const phase of ['Running', 'Pending', 'Scheduled'] as const) {
    counts[phase] = await countTasks(client, { ...namespaceQuery(options), phase })
  }
  const status = { url: client.url, status: ready.status, checks: ready.checks, tasks: counts }
  await printAnswer(context, options, status, () =>
    formatFields([
      ['service', client.url],
      ['status', ready.status],
      ...Object.entries(ready.checks ?? {}).map(([name, state]): [string, string] => [name, state]),
      ...Object.entries(counts).map(([phase, count]): [string, string] => [phase.toLowerCase(), describeCount(count)]),
    ]),
  )
}

const marks: Record<DoctorFinding['state'], string> = { ok: 'ok', warning: 'warn', missing: 'missing' }

async function diagnose({ options, context }: CliCall): Promise<void> {
  const findings = await context.diagnose(options)
  await printAnswer(context, options, findings, () => findings.map(formatFinding).join('\n'))
  if (findings.some((finding) => finding.state === 'missing')) throw new ExitSignal(exitCodes.failed)
}

const markWidth = 9
const whatWidth = 14

/** The fix has its own line, so that it can be copied. */
function formatFinding({ what, state, detail, fix }: DoctorFinding): string {
  const lines = [marks[state].padEnd(markWidth) + what.padEnd(whatWidth) + detail]
  if (fix !== undefined) lines.push(`${' '.repeat(markWidth + whatWidth)}-> ${fix}`)
  return lines.join('\n')
}

/** Of the service that runs; of this shell where none does, or where the line has settings of its own. */
async function readSettings(flags: object, options: GlobalOptions, context: CliContext): Promise<SettingValue[]> {
  const { terminal } = context
  if (Object.keys(flags).length > 0) return context.describeConfig(options)
  const isElsewhere = context.target(options).server !== undefined
  const client = isElsewhere ? await context.connect(options) : await findService(context, options)
  if (client === undefined) {
    terminal.note('no service runs: one that is started from this shell has these settings')
    return context.describeConfig(options)
  }
  const { items } = await client.call(listSettings)
  terminal.note(`settings of the service at ${client.url}`)
  return items.map(({ name, value, source }) => ({ name, value, source }))
}

async function printConfig(flags: object, options: GlobalOptions, context: CliContext): Promise<void> {
  const values = await readSettings(flags, options, context)
  await printAnswer(context, options, values, () =>
    formatTable(values, [
      { title: 'SETTING', value: (setting) => setting.name },
      { title: 'VALUE', value: (setting) => setting.value },
      { title: 'SOURCE', value: (setting) => setting.source },
    ]),
  )
  const unknown = context.listUnknownVariables()
  if (unknown.length > 0) context.terminal.note(`not settings, and ignored: ${unknown.join(', ')}`)
}
