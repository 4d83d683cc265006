// run: the main job in one line; submits an ai task, follows it and prints its result.
import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { createTask } from '../../contract/api/tasks.ts'
import { SvcError } from '../../errors.ts'
import { printAnswer } from '../answers.ts'
import type { CliContext, StartedService } from '../context.ts'
import { ExitSignal } from '../failure.ts'
import { printOutcome } from '../follow.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'
import { driveTask } from '../interruption.ts'
import { chooseModel, type ModelChoice } from '../model-choice.ts'

type RunOptions = {
  agent?: string
  provider?: string
  model?: string
  session?: string
  system?: string
  timeout?: string
  name?: string
  detach?: boolean
  quiet?: boolean
}

export function addRunCommand(program: Command, context: CliContext): void {
  program
    .command('run [prompt...]')
    .description('run a task from a prompt; starts a service when none runs')
    .option('--agent <name>', 'agent that supplies model, prompt and tools')
    .option('--provider <name>', 'provider to ask (default: `default`, or the only usable one)')
    .option('--model <name>', 'model of the provider')
    .option('--session <name>', 'session to continue; made when missing')
    .option('--system <text>', 'system prompt')
    .option('--timeout <duration>', 'give up after this long, such as 10m')
    .option('--name <name>', 'name of the task')
    .option('-d, --detach', 'submit, print the name of the task and return')
    .option('-q, --quiet', 'no progress: print the result only')
    .addHelpText(
      'after',
      `
The prompt may also come from standard input: \`svc run < prompt.txt\`, or \`-\` for the prompt.
One that begins with a dash goes after two: svc run -- "- like this".
Ctrl-C cancels the task.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 no service reached, 4 cancelled.`,
    )
    .action((words: string[], options: RunOptions, command: Command) => run(words, options, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

async function run(words: string[], given: RunOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const prompt = await readPrompt(words, context)
  const { client, started } = await context.connectOrStart(options)
  if (started && !given.quiet) announceService(started, context)
  const choice = given.agent === undefined ? await chooseModel(client, given, { options, context }) : given
  const task = await client.call(createTask, {
    body: { ...buildTask(prompt, given, choice), ...namespaceOf(options) },
  })
  const { name } = task.metadata
  if (given.detach) return printAnswer(context, options, task, () => name)
  const followed = await driveTask(client, task, { context, quiet: given.quiet })
  const code = await printOutcome(client, followed, { context, options })
  if (options.output === 'table' && !given.quiet) {
    const more = `look closer: svc task get ${name}, svc task events ${name}, svc task logs ${name}`
    context.terminal.note(`\n${context.terminal.colors.dim(more)}`)
  }
  if (code !== 0) throw new ExitSignal(code)
}

async function readPrompt(words: string[], context: CliContext): Promise<string> {
  const isElsewhere = words.length === 0 || (words.length === 1 && words[0] === '-')
  const prompt = isElsewhere ? await context.readInput() : words.join(' ')
  if (prompt !== undefined && prompt.trim() !== '') return isElsewhere ? prompt.trimEnd() : prompt
  throw new SvcError(
    'InvalidRequest',
    'say what is to be done: svc run "write hello to notes.txt, then read notes.txt"',
  )
}

function announceService({ url, pid, logFile, idleExit }: StartedService, { terminal }: CliContext): void {
  terminal.note(`started a service at ${url} (pid ${pid}, log ${logFile})`)
  terminal.note(`it stops by itself after ${idleExit} without work; \`svc down\` stops it now`)
}

function buildTask(prompt: string, given: RunOptions, { provider, model }: ModelChoice) {
  const ai = {
    ...(provider === undefined ? {} : { providerRef: { name: provider } }),
    ...(model === undefined ? {} : { model }),
    ...(given.system === undefined ? {} : { systemPrompt: given.system }),
  }
  return {
    name: given.name ?? `run-${randomBytes(4).toString('hex')}`,
    type: 'ai' as const,
    prompt,
    ...(Object.keys(ai).length === 0 ? {} : { ai }),
    ...(given.agent === undefined ? {} : { agentRef: { name: given.agent } }),
    ...(given.session === undefined ? {} : { sessionRef: { name: given.session, create: true } }),
    ...(given.timeout === undefined ? {} : { timeout: given.timeout }),
  }
}
