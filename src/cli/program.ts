// The command line: global options, and one file per group of commands.
import { Command, Option } from 'commander'
import { addApplyCommands } from './commands/apply.ts'
import { addCatalogCommands } from './commands/catalog.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addRunCommand } from './commands/run.ts'
import { addSecretCommands } from './commands/secret.ts'
import { addServiceCommands } from './commands/service.ts'
import { addSessionCommands } from './commands/session.ts'
import { addTaskCommands } from './commands/task.ts'
import { addTokenCommands } from './commands/token.ts'
import type { CliContext } from './context.ts'
import { reportFailure } from './failure.ts'
import { outputFormats } from './output.ts'

/** Runs one command line; resolves to the exit code. */
export async function runCommandLine(argv: string[], context: CliContext): Promise<number> {
  try {
    await createProgram(context).parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    return reportFailure(error, context.terminal)
  }
}

export function createProgram(context: CliContext): Command {
  const program = new Command('svc')
    .description('Runs AI tasks safely and keeps what they produce.')
    .version(context.version)
    .option('--server <url>', 'address of the service (SVC_SERVER)')
    .option('--token <token>', 'credential (SVC_TOKEN)')
    .option('-n, --namespace <name>', 'namespace to act in')
    .addOption(new Option('-o, --output <format>', 'how answers are printed').choices(outputFormats).default('table'))
    .option('--config <file>', 'YAML file of settings (SVC_CONFIG)')
    .option('--data-dir <dir>', 'data folder of the local service (SVC_DATA_DIR)')
    .option('--config-dir <dir>', 'folder of the token and key (SVC_CONFIG_DIR)')
    .showSuggestionAfterError()
    .configureOutput({ writeErr: (text) => context.terminal.note(text.trimEnd()) })
    .configureOutput({ writeOut: (text) => context.terminal.print(text.trimEnd()) })
    .exitOverride()
    .addHelpText(
      'after',
      '\nFirst steps:\n  svc run "say hello"     run a task; starts a service when none runs\n  svc doctor              what this machine lacks, and how to get it',
    )
  addRunCommand(program, context)
  addServiceCommands(program, context)
  addTaskCommands(program, context)
  addCatalogCommands(program, context)
  addSecretCommands(program, context)
  addSessionCommands(program, context)
  addTokenCommands(program, context)
  addApplyCommands(program, context)
  addCompletionCommand(program, context)
  return program
}
