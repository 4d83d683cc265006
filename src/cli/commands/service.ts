// up, down, status, doctor and config: the local service itself.
import { Command, Option } from 'commander'
import { getReadiness } from '../../contract/api/health.ts'
import { listTasks } from '../../contract/api/tasks.ts'
import type { CliContext, Finding } from '../context.ts'
import { ExitSignal, exitCodes } from '../failure.ts'
import { namespaceOf, printAnswer, readGlobalOptions } from '../global-options.ts'
import { formatFields, formatTable } from '../output.ts'

const globalFlags = ['--data-dir', '--config-dir']

export function addServiceCommands(program: Command, context: CliContext): void {
  program.addCommand(createUpCommand(context))
  program
    .command('down')
    .description('stop the local service')
    .action(async (_options: unknown, command: Command) => {
      const stopped = await context.stop(readGlobalOptions(command))
      context.terminal.note(stopped ? 'stopped' : 'no service runs on this data folder')
    })
  program
    .command('status')
    .description('whether the service is ready, and what it is doing')
    .action((_options: unknown, command: Command) => showStatus(command, context))
  program
    .command('doctor')
    .description('what this machine has for running tasks, what is missing, and how to get it')
    .action((_options: unknown, command: Command) => diagnose(command, context))
  const config = program.command('config').description('settings of the local service')
  config
    .command('print')
    .description('every setting with its value and where that came from')
    .action((_options: unknown, command: Command) => printConfig(command, context))
}

function createUpCommand(context: CliContext): Command {
  const up = new Command('up').description('serve in the foreground')
  for (const setting of context.settingHelp) {
    if (globalFlags.includes(setting.flag)) continue
    const option = new Option(
      `${setting.flag} ${setting.placeholder}`.trim(),
      `${setting.help} (${setting.environment})`,
    )
    up.addOption(option)
  }
  return up.action(async (given: Record<string, unknown>, command: Command) => {
    await context.serve(readGlobalOptions(command, given))
  })
}

async function showStatus(command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const ready = await client.call(getReadiness)
  const counts: Record<string, number> = {}
  for (const phase of ['Running', 'Pending', 'Scheduled'] as const) {
    const page = await client.call(listTasks, { query: { ...namespaceOf(options), phase, limit: 500 } })
    counts[phase] = page.items.length
  }
  const status = { url: client.url, status: ready.status, checks: ready.checks, tasks: counts }
  printAnswer(context, options, status, () =>
    formatFields([
      ['service', client.url],
      ['status', ready.status],
      ...Object.entries(ready.checks ?? {}).map(([name, state]): [string, string] => [name, state]),
      ...Object.entries(counts).map(([phase, count]): [string, string] => [phase.toLowerCase(), describeCount(count)]),
    ]),
  )
}

function describeCount(count: number): string {
  return count >= 500 ? '500 or more tasks' : `${count} task${count === 1 ? '' : 's'}`
}

const marks: Record<Finding['state'], string> = { ok: 'ok', warning: 'warn', missing: 'missing' }

async function diagnose(command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const findings = await context.diagnose(options)
  printAnswer(context, options, findings, () =>
    formatTable(findings, [
      { title: 'CHECK', value: (finding) => finding.what },
      { title: 'STATE', value: (finding) => marks[finding.state] },
      { title: 'DETAIL', value: (finding) => finding.detail },
      { title: 'TO FIX', value: (finding) => finding.fix },
    ]),
  )
  if (findings.some((finding) => finding.state === 'missing')) throw new ExitSignal(exitCodes.failed)
}

function printConfig(command: Command, context: CliContext): void {
  const options = readGlobalOptions(command)
  const values = context.describeConfig(options)
  printAnswer(context, options, values, () =>
    formatTable(values, [
      { title: 'SETTING', value: (setting) => setting.name },
      { title: 'VALUE', value: (setting) => setting.value },
      { title: 'SOURCE', value: (setting) => setting.source },
    ]),
  )
}
