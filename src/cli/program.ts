// The command line: global options, and one file per group of commands, loaded when one of its commands is called.
import { Command, Help } from 'commander'
import { commandHint, setTargetFlags } from '../client/command-hint.ts'
import { SvcError } from '../errors.ts'
import { completeLine } from './completion.ts'
import type { CliContext } from './context.ts'
import { exitCodes, reportFailure } from './failure.ts'
import { addGlobalOptions, listTargetFlags, takeNamespace } from './global-options.ts'
import { readSynonyms } from './synonyms.ts'

type AddCommands = (program: Command, context: CliContext) => void

const service = () => import('./commands/service/service.ts')
const backups = () => import('./commands/service/backup.ts')
const kinds = (word: string) => async () =>
  (await import('./commands/resources/kind-commands.ts')).addKindCommands(word)
const files = () => import('./commands/resources/apply.ts')

type Loaders = Record<string, () => Promise<AddCommands>>

/** By their headings, in the order of the help. */
const sections: Record<string, Loaders> = {
  'Work:': {
    run: async () => (await import('./commands/tasks/run.ts')).addRunCommand,
    chat: async () => (await import('./commands/chat/chat.ts')).addChatCommand,
    launch: async () => (await import('./commands/agents/launch.ts')).addLaunchCommand,
    env: async () => (await import('./commands/agents/launch.ts')).addEnvCommand,
    task: async () => (await import('./commands/tasks/task.ts')).addTaskCommands,
    approvals: async () => (await import('./commands/tasks/approvals.ts')).addApprovalCommands,
    session: async () => (await import('./commands/chat/session.ts')).addSessionCommands,
    workspace: async () => (await import('./commands/workspaces/workspace.ts')).addWorkspaceCommands,
  },
  'Who does it, and with what:': {
    agent: kinds('agent'),
    provider: kinds('provider'),
    tool: kinds('tool'),
    skill: kinds('skill'),
    configmap: kinds('configmap'),
    secret: async () => (await import('./commands/resources/secret.ts')).addSecretCommands,
    memory: async () => (await import('./commands/memory/memory.ts')).addMemoryCommands,
    proposal: async () => (await import('./commands/memory/proposal.ts')).addProposalCommands,
  },
  'Repositories:': {
    scan: async () => (await import('./commands/scans/scan-repositories.ts')).addScanCommands,
    monitor: kinds('monitor'),
    codehost: async () => (await import('./commands/codehost/codehost.ts')).addCodeHostCommands,
    webhook: async () => (await import('./commands/codehost/webhook.ts')).addWebhookCommands,
  },
  'The service:': {
    up: async () => (await service()).addUpCommand,
    open: async () => (await import('./commands/service/open.ts')).addOpenCommand,
    down: async () => (await service()).addDownCommand,
    status: async () => (await service()).addStatusCommand,
    doctor: async () => (await service()).addDoctorCommand,
    config: async () => (await service()).addConfigCommands,
    'install-service': async () => (await import('./commands/service/install-service.ts')).addInstallServiceCommand,
    backup: async () => (await backups()).addBackupCommand,
    restore: async () => (await backups()).addRestoreCommand,
  },
  'Access and costs:': {
    whoami: async () => (await import('./commands/service/contexts.ts')).addWhoamiCommand,
    login: async () => (await import('./commands/identity/login.ts')).addLoginCommand,
    logout: async () => (await import('./commands/identity/login.ts')).addLogoutCommand,
    token: async () => (await import('./commands/identity/token.ts')).addTokenCommands,
    usage: async () => (await import('./commands/budgets/usage.ts')).addUsageCommand,
    budget: async () => (await import('./commands/budgets/budget.ts')).addBudgetCommands,
    audit: async () => (await import('./commands/identity/audit.ts')).addAuditCommand,
  },
  'Kinds and files:': {
    get: async () => (await files()).addGetCommand,
    describe: async () => (await import('./commands/resources/describe.ts')).addDescribeCommand,
    apply: async () => (await files()).addApplyCommand,
    delete: async () => (await files()).addDeleteCommand,
    explain: async () => (await import('./commands/resources/explain.ts')).addExplainCommand,
    completion: async () => (await import('./commands/service/completion.ts')).addCompletionCommand,
  },
}

/** The heading and the loader of each command. */
const groups = new Map(
  Object.entries(sections).flatMap(([heading, loaders]) =>
    Object.entries(loaders).map(([word, load]) => [word, { heading, load }] as const),
  ),
)

/** Called by the completion scripts; not an ordinary command, because it must never fail. */
const completeWord = '__complete'

/** Runs one command line; resolves to the exit code. */
export async function runCommandLine(argv: string[], context: CliContext): Promise<number> {
  setTargetFlags([])
  try {
    if (argv[0] === completeWord) return await complete(argv.slice(1), context)
    const line = readLine(argv, context)
    const program = await createProgram(line, context)
    await program.parseAsync(line, { from: 'user' })
    return 0
  } catch (error) {
    return reportFailure(error, context.terminal)
  }
}

function readLine(argv: string[], context: CliContext): string[] {
  const at = findCommandWord(argv, createBareProgram(context))
  return at === undefined || groups.has(argv[at] ?? '') ? argv : readSynonyms(argv, at)
}

/** With the group that the line calls, or with all groups when that is unclear. */
export async function createProgram(argv: string[], context: CliContext): Promise<Command> {
  const program = createBareProgram(context)
  const at = findCommandWord(argv, program)
  const word = at === undefined ? undefined : argv[at]
  const called = word === undefined ? undefined : groups.get(word)
  const isVersionOnly = word === undefined && argv.some((arg) => arg === '--version' || arg === '-V')
  const wanted = called ? [called] : isVersionOnly ? [] : [...groups.values()]
  for (const { heading, load } of wanted) {
    program.commandsGroup(heading)
    ;(await load())(program, context)
  }
  return program
}

/** Columns, the same in a file as on a screen. */
const helpWidth = 100

function createBareProgram(context: CliContext): Command {
  const { terminal } = context
  const program = new Command('svc')
    .description(`Runs AI tasks safely and keeps what they produce.\n\n${describeFirstSteps()}`)
    .optionsGroup(globalHeading)
    .version(context.version)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, formatHelp })
    .configureOutput({
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
      writeErr: (text) => terminal.note(text.trimEnd()),
      writeOut: (text) => terminal.print(text.trimEnd()),
      outputError: (text, write) => write(explainMistake(text)),
    })
    .exitOverride()
  addGlobalOptions(program)
  return program.hook('preAction', (_program, command) => {
    setTargetFlags(listTargetFlags(program))
    takeNamespace(program, command, context)
    refusePlaceholder(command)
  })
}

/** Hints and guides write `--model MODEL` where nobody but the reader knows the name, and no vendor has one of that name. */
function refusePlaceholder(command: Command): void {
  if (command.opts<{ model?: unknown }>().model !== 'MODEL') return
  const models = `\`${commandHint('provider models NAME')}\` lists those of a provider`
  throw new SvcError('InvalidRequest', `MODEL stands for the name of a model: put one of the vendor's there; ${models}`)
}

function describeFirstSteps(): string {
  const steps = [
    ['run "say hello"', 'run a task; starts a service when none runs'],
    ['open', 'see it in a browser'],
    ['doctor', 'what this machine lacks, and how to get it'],
  ] as const
  const lines = steps.map(([words, what]) => [commandHint(words), what] as const)
  const width = Math.max(...lines.map(([words]) => words.length))
  return ['First steps:', ...lines.map(([words, what]) => `  ${words.padEnd(width)}   ${what}`)].join('\n')
}

const globalHeading = 'Global Options:'

/** As usual, but what every command takes comes last. */
function formatHelp(command: Command, helper: Help): string {
  const parts = new Help().formatHelp.call(helper, command, helper).trimEnd().split('\n\n')
  const isGlobal = (part: string) => part.startsWith(globalHeading)
  return `${[...parts.filter((part) => !isGlobal(part)), ...parts.filter(isGlobal)].join('\n\n')}\n`
}

/** What to do about a wrong command line, in addition to an existing suggestion. */
function explainMistake(text: string): string {
  const hint = /unknown option '-[^']*\s/.test(text)
    ? `A text that begins with a dash goes after two: ${commandHint('run -- "- like this"')}.`
    : /unknown (option|command)|missing|too many|required/.test(text) && !text.includes('Did you mean')
      ? 'Add --help to see what there is.'
      : ''
  return `${text.trimEnd()}\n${hint}`
}

/** Index of the first word that is neither a global option nor the value of one. */
function findCommandWord(argv: string[], program: Command): number | undefined {
  const takesValue = new Set(program.options.filter((o) => o.required).flatMap((o) => [o.short, o.long]))
  for (let index = 0; index < argv.length; index += 1) {
    const arg = argv[index] ?? ''
    if (!arg.startsWith('-')) return index
    if (takesValue.has(arg)) index += 1
  }
  return undefined
}

async function complete(words: string[], context: CliContext): Promise<number> {
  try {
    // The last word is still being typed, so that it stands for nothing yet.
    const line = [...readLine(words.slice(0, -1), context), ...words.slice(-1)]
    const candidates = await completeLine(line, await createProgram([], context), context)
    if (candidates.length > 0) context.terminal.print(candidates.join('\n'))
    return 0
  } catch {
    // A person who presses Tab wants no error text in the middle of the line.
    return exitCodes.failed
  }
}
