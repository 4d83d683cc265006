// run: the main job in one line; submits an ai task, follows it and prints its result.
import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { createProvider, getProvider } from '../../contract/api/providers.ts'
import { createTask } from '../../contract/api/tasks.ts'
import { isSvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions, StartedService } from '../context.ts'
import { ExitSignal } from '../failure.ts'
import { followTask, printOutcome } from '../follow.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'

type RunOptions = {
  agent?: string
  provider?: string
  model?: string
  session?: string
  system?: string
  timeout?: string
  name?: string
  detach?: boolean
}

export function addRunCommand(program: Command, context: CliContext): void {
  program
    .command('run <prompt...>')
    .description('run a task from a prompt; starts a service when none runs')
    .option('--agent <name>', 'agent that supplies model, prompt and tools')
    .option('--provider <name>', 'provider to ask')
    .option('--model <name>', 'model of the provider')
    .option('--session <name>', 'session to continue; made when missing')
    .option('--system <text>', 'system prompt')
    .option('--timeout <duration>', 'give up after this long, such as 10m')
    .option('--name <name>', 'name of the task')
    .option('-d, --detach', 'submit and return')
    .action((words: string[], options: RunOptions, command: Command) =>
      run(words.join(' '), options, { command, context }),
    )
}

type Invocation = { command: Command; context: CliContext }

async function run(prompt: string, given: RunOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const { client, started } = await context.connectOrStart(options)
  if (started) announceService(started, context)
  const provider = given.provider ?? (given.agent ? undefined : await chooseProvider(client, options, context))
  const body = { ...buildTask(prompt, given, provider), ...namespaceOf(options) }
  const task = await client.call(createTask, { body })
  const { name } = task.metadata
  if (given.detach) {
    context.terminal.print(name)
    return
  }
  const finished = await followTask(client, task, context)
  const code = await printOutcome(client, finished, { context, options })
  if (options.output === 'table') {
    context.terminal.note(
      context.terminal.colors.dim(
        `\nlook closer: svc task get ${name}, svc task events ${name}, svc task logs ${name}`,
      ),
    )
  }
  if (code !== 0) throw new ExitSignal(code)
}

function announceService(started: StartedService, { terminal }: CliContext): void {
  terminal.note(`started a service at ${started.url} (pid ${started.pid}, log ${started.logFile})`)
  terminal.note('it stops by itself when idle; `svc down` stops it now')
}

function buildTask(prompt: string, given: RunOptions, provider: string | undefined) {
  const ai = {
    ...(provider === undefined ? {} : { providerRef: { name: provider } }),
    ...(given.model === undefined ? {} : { model: given.model }),
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

/** The provider `default` where there is one, else the demo, which is announced as no language model. */
async function chooseProvider(client: Client, options: GlobalOptions, { terminal }: CliContext): Promise<string> {
  if (await hasProvider(client, options, 'default')) return 'default'
  terminal.note('no language model is set up: taking the demo provider, which follows only simple instructions.')
  terminal.note(
    'For a real one: export ANTHROPIC_API_KEY or OPENAI_API_KEY before the service starts, or see `svc provider create --help`.',
  )
  if (!(await hasProvider(client, options, 'demo'))) await createDemo(client, options)
  return 'demo'
}

async function hasProvider(client: Client, options: GlobalOptions, name: string): Promise<boolean> {
  try {
    await client.call(getProvider, { params: { name }, query: namespaceOf(options) })
    return true
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return false
    throw error
  }
}

async function createDemo(client: Client, options: GlobalOptions): Promise<void> {
  const spec = { type: 'demo' as const, defaultModel: 'demo' }
  try {
    await client.call(createProvider, { body: { name: 'demo', ...namespaceOf(options), spec } })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
  }
}
