// secret: names are shown, values never.
import type { Command } from 'commander'
import { createSecret, deleteSecret, listSecrets } from '../../contract/api/secrets.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { namespaceOf, printAnswer, readGlobalOptions } from '../global-options.ts'
import { formatTable } from '../output.ts'

export function addSecretCommands(program: Command, context: CliContext): void {
  const secret = program.command('secret').description('keys and passwords that resources refer to')
  secret
    .command('list')
    .alias('ls')
    .description('names of secrets')
    .action((_options: unknown, command: Command) => listAll(command, context))
  secret
    .command('create <name>')
    .description('store a secret; values come from the environment or a file, never from the command line')
    .option('--from-env <key=VARIABLE...>', 'take the value of a key from an environment variable')
    .option('--from-file <key=path...>', 'take the value of a key from a file, `-` for standard input')
    .action((name: string, _options: unknown, command: Command) => create(name, command, context))
  secret
    .command('delete <name>')
    .alias('rm')
    .description('remove a secret')
    .action(async (name: string, _options: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      const client = await context.connect(options)
      await client.call(deleteSecret, { params: { name }, query: namespaceOf(options) })
      context.terminal.note(`secret ${name} deleted`)
    })
  secret
    .command('rotate-key')
    .description('re-encrypt all secrets under a new key; stop the service first')
    .action(async (_options: unknown, command: Command) => {
      const count = await context.rotateSecretKey(readGlobalOptions(command))
      context.terminal.note(`${count} secrets are encrypted under a new key`)
    })
}

async function listAll(command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const list = await client.call(listSecrets, { query: namespaceOf(options) })
  printAnswer(context, options, list.items, () =>
    formatTable(list.items, [
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'NAME', value: (item) => item.name },
      { title: 'TYPE', value: (item) => item.type },
    ]),
  )
}

async function create(name: string, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const stringData = await collectValues(command.opts<ValueOptions>(), context)
  const client = await context.connect(options)
  await client.call(createSecret, { body: { name, ...namespaceOf(options), stringData } })
  context.terminal.note(`secret ${name} created with ${Object.keys(stringData).join(', ')}`)
}

type ValueOptions = { fromEnv?: string[]; fromFile?: string[] }

async function collectValues(given: ValueOptions, context: CliContext): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [key, variable] of (given.fromEnv ?? []).map(splitPair)) {
    const value = context.readEnvironment(variable)
    if (!value) throw new SvcError('InvalidRequest', `the environment variable ${variable} is empty or not set`)
    values[key] = value
  }
  for (const [key, path] of (given.fromFile ?? []).map(splitPair))
    values[key] = (await context.readText(path)).trimEnd()
  if (Object.keys(values).length > 0) return values
  throw new SvcError(
    'InvalidRequest',
    'a secret needs a value: --from-env api-key=MY_VARIABLE or --from-file api-key=PATH',
  )
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=')
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)]
  throw new SvcError('InvalidRequest', `\`${pair}\` must be KEY=SOURCE, such as api-key=MY_VARIABLE`)
}
