// run: the main job in one line; submits a task of a prompt, follows it and prints its result.
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { getAgent } from '../../../contract/api/agents/agents.ts'
import { createTask } from '../../../contract/api/tasks/tasks.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { CliCall, CliContext, GlobalOptions } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { describeFiles, listFiles } from '../../files/artifact-files.ts'
import {
  applyChanges,
  describeChanges,
  describeIgnored,
  describeLines,
  type FoundChanges,
  findChanges,
  type SentFolder,
} from '../../files/folder-changes.ts'
import { describeInputs, type FileOptions, findFiles, type InputFiles, sendFiles } from '../../files/input-files.ts'
import { printOutcome, targetOfTask } from '../../follow/follow.ts'
import { driveTask } from '../../follow/interruption.ts'
import { gather, namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { changeTask } from '../../objects/change-object.ts'
import { chooseModel } from '../../objects/model-choice.ts'
import { noteNewSession, requireAllNamed } from '../../objects/references.ts'
import { addMakingOptions, fillSpec } from '../../objects/spec-options.ts'
import { promptTaskOptions, repositoryOptions } from '../../objects/task-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { agrees } from '../../output/questions.ts'
import { noteNetwork } from './task-network.ts'
import { printPullRequest, proposePullRequest } from './task-pr.ts'

type RunOptions = {
  agent?: string
  provider?: string
  model?: string
  session?: string
  system?: string
  timeout?: string
  repo?: string
  push?: string
  pr?: boolean
  name?: string
  detach?: boolean
  quiet?: boolean
  yes?: boolean
} & FileOptions

const runOptions = [...promptTaskOptions, ...repositoryOptions]

export function addRunCommand(program: Command, context: CliContext): void {
  const command = program
    .command('run [prompt...]')
    .description('run a task from a prompt; starts a service when none runs')
  addMakingOptions(command, runOptions)
    .option('--pr', 'with --push: open a pull request of that branch when it has succeeded')
    .option('--name <name>', 'name of the task')
    .option('--here', 'give it the files of this folder, and offer what it changes')
    .option('--file <path>', 'give it this file; may be repeated', gather, [])
    .option('-y, --yes', 'with --here: change the files of this folder without asking')
    .option('-d, --detach', 'submit, print the name of the task and return')
    .option('-q, --quiet', 'no progress: print the result only')
    .addHelpText(
      'after',
      `
The prompt may also come from standard input: \`${commandHint('run < prompt.txt')}\`, or \`-\` for the prompt.
One that begins with a dash goes after two: ${commandHint('run -- "- like this"')}.
Ctrl-C cancels the task.

--here takes what Git would commit, or else everything but what tools make again (.git, node_modules, ...); files named .env
stay here. What the task changes is shown and done here on a yes, but never to a file that was changed meanwhile; new files that
.gitignore excludes stay with the task.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 no service reached, 4 cancelled.`,
    )
    .action((words: string[], options: RunOptions, command: Command) => run(words, options, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

async function run(words: string[], flags: RunOptions, { command, context }: Invocation): Promise<void> {
  refuseTwoFolders(flags)
  refuseLonePullRequest(flags)
  const options = readGlobalOptions(command)
  const prompt = await readPrompt(words, context)
  const folder = resolve('.')
  const files = await findFiles(flags, folder)
  const client = await context.connect(options, { quiet: flags.quiet })
  await checkNames(client, flags, { options, context })
  const spec = await buildTask(client, prompt, flags, { options, context })
  const task = await client.call(createTask, { body: { ...spec, ...(files && { suspend: true }) } })
  const digests = files && (await giveFiles(client, task, files, { context, quiet: flags.quiet }))
  if (flags.detach) return printAnswer(context, options, task, () => task.metadata.name)
  if (!flags.quiet) await noteNetwork(client, task, context)
  const followed = await driveTask(client, task, { context, quiet: flags.quiet })
  const code = await printOutcome(client, followed, { context, options })
  await showPullRequest(client, followed.task, { flags, context, code })
  const isWhole = await offerChanges(client, task, { folder, digests, flags, context })
  if (options.output === 'table' && !flags.quiet)
    await printNextSteps(client, followed.task, { flags, context, hasDiff: flags.repo !== undefined && code === 0 })
  if (code !== 0 || !isWhole) throw new ExitSignal(code || exitCodes.failed)
}

function refuseTwoFolders({ here, repo }: RunOptions): void {
  if (!here || repo === undefined) return
  const advice = '--here works on the files of this folder, --repo on a fresh checkout'
  throw new SvcError('InvalidRequest', `--here and --repo exclude each other: ${advice}`)
}

function refuseLonePullRequest({ pr, push, repo, detach }: RunOptions): void {
  if (!pr) return
  if (push === undefined || repo === undefined)
    throw new SvcError(
      'InvalidRequest',
      '--pr opens the pull request of a pushed branch: add --repo URL and --push BRANCH',
    )
  if (!detach) return
  const later = `open it when the task has succeeded: ${commandHint('task pr NAME')}`
  throw new SvcError('InvalidRequest', `--pr waits for the end of the task, and --detach does not; ${later}`)
}

/** The digests of what was sent, by path. */
async function giveFiles(
  client: Client,
  task: Task,
  files: InputFiles,
  { context, quiet }: { context: CliContext; quiet: boolean | undefined },
): Promise<Map<string, string>> {
  if (!quiet) context.terminal.note(describeInputs(files))
  const digests = await sendFiles(client, task, files, { context })
  await changeTask(client, targetOfTask(task), (spec) => ({ ...spec, suspend: false }))
  return digests
}

async function checkNames(client: Client, flags: RunOptions, call: CliCall): Promise<void> {
  await requireAllNamed(runOptions, flags, { client, ...call })
  if (flags.session !== undefined) await noteNewSession(client, flags.session, call)
}

type Ended = Pick<Offer, 'flags' | 'context'> & { code: number }

/** Only of a task that has succeeded. */
async function showPullRequest(client: Client, task: Task, { flags, context, code }: Ended): Promise<void> {
  if (!flags.pr || code !== 0) return
  const { terminal } = context
  terminal.note(`pull request: ${printPullRequest(await proposePullRequest(client, targetOfTask(task), {}))}`)
}

type Offer = { folder: string; digests: Map<string, string> | undefined; flags: RunOptions; context: CliContext }

/** False when something was to be done and could not be. */
async function offerChanges(client: Client, task: Task, { folder, digests, flags, context }: Offer): Promise<boolean> {
  if (digests === undefined || !flags.here) return true
  const before = { folder, digests }
  const found = await findChanges(client, task, before)
  const { changes } = found
  const more = `\`${commandHint(`task download ${task.metadata.name} --all`)}\` fetches the files`
  if (!flags.quiet) await showChanges(found, { before, more, context })
  if (changes.length === 0) return true
  const { terminal } = context
  terminal.note(describeChanges(changes))
  if (flags.yes || (await agrees(context, 'change them?'))) return applyChanges(changes, before, context)
  terminal.note(`nothing was changed here; ${more}`)
  return true
}

type Shown = { before: SentFolder; more: string; context: CliContext }

async function showChanges({ changes, ignored }: FoundChanges, { before, more, context }: Shown): Promise<void> {
  const { terminal } = context
  if (ignored.length > 0) terminal.note(`${describeIgnored(ignored)}; ${more}`)
  if (changes.length === 0) return terminal.note('it changed no file')
  const lines = await describeLines(changes, before, terminal.colors)
  if (lines !== undefined) terminal.note(lines)
}

type Remains = Pick<Offer, 'flags' | 'context'> & { hasDiff: boolean }

/** What it left, and how to look closer. */
async function printNextSteps(client: Client, task: Task, { flags, context, hasDiff }: Remains) {
  const { name } = task.metadata
  const { terminal } = context
  const files = flags.here ? undefined : describeFiles(task, await listFiles(client, targetOfTask(task)))
  if (files !== undefined) terminal.note(`\n${files}`)
  const hasMade = (task.status?.childTasks ?? []).length > 0
  const opens = flags.push !== undefined && !flags.pr
  const words = [
    ...(hasDiff ? ['diff', 'apply'] : []),
    ...(hasDiff && opens ? ['pr'] : []),
    ...(hasMade ? ['tree'] : []),
    'events',
    'logs',
  ]
  const more = `look closer: ${commandHint(`task get ${name}`)}; also ${words.join(', ')}`
  terminal.note(`\n${terminal.colors.dim(more)}`)
}

async function readPrompt(words: string[], context: CliContext): Promise<string> {
  const isElsewhere = words.length === 0 || (words.length === 1 && words[0] === '-')
  const prompt = isElsewhere ? await context.readInput() : words.join(' ')
  if (prompt !== undefined && prompt.trim() !== '') return isElsewhere ? prompt.trimEnd() : prompt
  throw new SvcError(
    'InvalidRequest',
    `say what is to be done: ${commandHint('run "write hello to notes.txt, then read notes.txt"')}`,
  )
}

/** An agent with a runtime has tasks of its own type. What is wrong with another one the service says. */
async function chooseType(client: Client, { agent }: RunOptions, options: GlobalOptions): Promise<'ai' | 'agent'> {
  if (agent === undefined) return 'ai'
  const target = { params: { name: agent }, query: namespaceQuery(options) }
  const found = await client.call(getAgent, target).catch((error: unknown) => {
    if (!isSvcError(error, 'NotFound')) throw error
  })
  return found?.spec.runtime === undefined ? 'ai' : 'agent'
}

async function buildTask(client: Client, prompt: string, flags: RunOptions, call: CliCall) {
  const choice = flags.agent === undefined ? await chooseModel(client, flags, call) : flags
  const { options, context } = call
  const spec = { type: await chooseType(client, flags, options), prompt }
  const filled = await fillSpec(spec, runOptions, { flags: { ...flags, ...choice }, context })
  const name = flags.name ?? `run-${randomBytes(4).toString('hex')}`
  return { ...filled, ...spec, name, ...namespaceQuery(options) }
}
