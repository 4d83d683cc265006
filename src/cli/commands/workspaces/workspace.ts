// workspace: execution workspaces that there are, a command in one, and the end of one.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  commandLimits,
  listWorkspaces,
  releaseWorkspace,
  runInWorkspace,
  type WorkspaceCommandResult,
  type WorkspaceItem,
} from '../../../contract/api/workspaces/workspaces.ts'
import { SvcError } from '../../../errors.ts'
import { callService, openCall, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { ExitSignal } from '../../failure.ts'
import { addAllNamespacesOption } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge } from '../../output/output.ts'

type Invocation = { command: Command; context: CliContext }
type ShellFlags = { timeout?: string }

export function addWorkspaceCommands(program: Command, context: CliContext): void {
  const workspace = program.command('workspace').alias('workspaces').description('execution workspaces of agent tasks')
  const list = addAllNamespacesOption(workspace.command('list'))
    .alias('ls')
    .description('the workspaces that there are, oldest first, with their age and cost')
  addList(list, context, workspaces)
  workspace
    .command('release <name>')
    .description('delete a workspace that no task uses, with all that is in it')
    .action(callService(context, release))
  workspace
    .command('shell <name> [command...]')
    .description('run a command (after `--`) in the folder of the agent; without one, each line of the input')
    .option('--timeout <seconds>', 'when a command is ended', '60')
    .action((name: string, words: string[], flags: ShellFlags, command: Command) =>
      openShell({ name, words, ...flags }, { command, context }),
    )
}

function describeUse({ state, taskName, expiresAt }: WorkspaceItem, now: Date): string {
  if (taskName !== undefined) return taskName
  return expiresAt === undefined || state === 'Ending' ? '' : `until ${formatUntil(expiresAt, now)}`
}

function formatUntil(expiresAt: string, now: Date): string {
  const minutes = Math.max(0, Math.round((Date.parse(expiresAt) - now.getTime()) / 60_000))
  return minutes < 120 ? `in ${minutes}m` : `in ${Math.round(minutes / 60)}h`
}

const howToKeepOne = 'agent tasks with `execution.workspace: { enabled: true, cleanupPolicy: retain }` leave one'

const workspaces: ListCommand<WorkspaceItem> = {
  route: listWorkspaces,
  columns: (now) => [
    { title: 'NAMESPACE', value: (item) => item.namespace },
    { title: 'NAME', value: (item) => item.name },
    { title: 'PROVIDER', value: (item) => item.provider },
    { title: 'STATE', value: (item) => item.state },
    { title: 'SESSION', value: (item) => item.sessionName ?? '' },
    { title: 'TASK', value: (item) => describeUse(item, now) },
    { title: 'AGE', value: (item) => formatAge(item.createdAt, now) },
    { title: 'COST', value: (item) => item.cost?.toFixed(4) ?? '' },
  ],
  empty: (scope) => `no execution workspaces${scope}; ${howToKeepOne}`,
}

async function release({ client, options, context, query }: ServiceCall, name: string): Promise<void> {
  await client.call(releaseWorkspace, { params: { name }, query })
  await printAnswer(context, options, { name, released: true }, () => `workspace ${name} is deleted`)
}

function readTimeout({ timeout = '60' }: ShellFlags): number {
  const seconds = Number(timeout)
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= commandLimits.seconds) return seconds
  throw new SvcError('InvalidRequest', `--timeout takes whole seconds, 1 to ${commandLimits.seconds}`)
}

type Shell = ShellFlags & { name: string; words: string[] }

async function openShell(shell: Shell, { command, context }: Invocation): Promise<void> {
  const timeoutSeconds = readTimeout(shell)
  const { client, options, query } = await openCall(command, context)
  const params = { name: shell.name }
  const run = async (argv: string[]) => {
    const body = { command: argv, timeoutSeconds }
    const result = await client.call(runInWorkspace, { params, query, body })
    await printAnswer(context, options, result, () => result.stdout.trimEnd())
    printErrors(context, result)
    return result.exitCode
  }
  const typedLines = shell.words.length > 0 ? [] : await readLines(context)
  let code = shell.words.length > 0 ? await run(shell.words) : 0
  for (const line of typedLines) code = await run(['sh', '-c', line])
  if (code !== 0) throw new ExitSignal(code)
}

async function readLines(context: CliContext): Promise<string[]> {
  const input = (await context.readInput()) ?? ''
  const lines = input.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > 0) return lines
  throw new SvcError(
    'InvalidRequest',
    `say what to run: ${commandHint('workspace shell NAME -- ls -la')}, or give it lines of input`,
  )
}

function printErrors({ terminal }: CliContext, { stderr, truncated }: WorkspaceCommandResult): void {
  if (stderr.trim() !== '') terminal.note(stderr.trimEnd())
  if (truncated) terminal.note('it printed more than is shown')
}
