// secret: keys are shown, values never; values come from the environment, files and standard input.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import {
  createSecret,
  deleteSecret,
  listSecrets,
  type SecretItem,
  updateSecret,
} from '../../../contract/api/resources/secrets.ts'
import { SvcError } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { callForEach, callService, openCall, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { requireLocal } from '../../follow/stopping.ts'
import { addAllNamespacesOption, gather, readGlobalOptions } from '../../global-options.ts'
import { readDocument } from '../../objects/change-object.ts'
import { explainMissing } from '../../objects/references.ts'
import { requireSome } from '../../objects/spec-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatAge, formatFields, formatYaml } from '../../output/output.ts'
import { listPages } from '../../output/paging.ts'

export function addSecretCommands(program: Command, context: CliContext): void {
  const secret = program.command('secret').description('keys and passwords that resources refer to')
  const list = addAllNamespacesOption(secret.command('list')).alias('ls').description('names of secrets, newest first')
  addList(list, context, secrets)
  secret
    .command('get <name>')
    .alias('show')
    .description('the keys of a secret and the hosts they may be sent to; its values are never shown')
    .action(callService(context, show))
  addValueOptions(
    secret
      .command('create <name>')
      .description('store a secret; values come from the environment or a file, never from the command line'),
  )
    .option('--allow-host <host>', 'send the values to this host only, * and ? are wildcards; may be repeated', gather)
    .action((name: string, _options: unknown, command: Command) => create(name, command, context))
  addSecretChanges(secret, context)
  secret
    .command('delete <names...>')
    .alias('rm')
    .description('remove one secret, or several')
    .action(
      callForEach(context, async ({ client, query }, name) => {
        await client.call(deleteSecret, { params: { name }, query })
        return `secret ${name} deleted`
      }),
    )
  secret
    .command('rotate-key')
    .description('re-encrypt all secrets under a new key; stop the service first')
    .action(async (_options: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      requireLocal(context, options, 'secret rotate-key')
      const count = await context.rotateSecretKey(options)
      context.terminal.note(`${count} ${count === 1 ? 'secret is' : 'secrets are'} encrypted under a new key`)
    })
}

const secrets: ListCommand<SecretItem> = {
  route: listSecrets,
  pages: 'newest',
  columns: (now) => [
    { title: 'NAMESPACE', value: (item) => item.namespace },
    { title: 'NAME', value: (item) => item.name },
    { title: 'TYPE', value: (item) => item.type },
    { title: 'KEYS', value: (item) => item.keys.join(',') },
    { title: 'HOSTS', value: (item) => item.allowedHosts?.join(',') },
    { title: 'AGE', value: (item) => formatAge(item.createdAt, now) },
  ],
  empty: (scope) => `no secrets${scope}; \`${commandHint('secret create --help')}\` tells how to make one`,
}

async function create(name: string, command: Command, context: CliContext): Promise<void> {
  const flags = command.opts<ValueOptions & { allowHost?: string[] }>()
  const stringData = await collectValues(flags, context)
  if (Object.keys(stringData).length === 0) {
    const example = '--from-env api-key=MY_VARIABLE or --from-file api-key=PATH'
    throw new SvcError('InvalidRequest', `a secret needs a value: ${example}`)
  }
  const { client, query } = await openCall(command, context)
  const hosts = flags.allowHost === undefined ? {} : { allowedHosts: flags.allowHost }
  await client.call(createSecret, { body: { name, ...query, stringData, ...hosts } })
  context.terminal.note(`secret ${name} created with ${Object.keys(stringData).join(', ')}`)
}

type Changes = { stringData: Record<string, string>; remove: string[] }

export function addSecretChanges(group: Command, context: CliContext): void {
  addValueOptions(group.command('update <name>').description('replace or add values; the other keys stay'))
    .option('--remove <key>', 'take a key out; may be repeated', gather)
    .action(async (name: string, flags: ValueOptions & { remove?: string[] }, command: Command) => {
      requireSome(flags, ['--from-file <pair>', '--from-env <pair>', '--remove <key>'], 'secret')
      const stringData = await collectValues(flags, context)
      await send(name, await openCall(command, context), { stringData, remove: flags.remove ?? [] })
    })
  group
    .command('edit <name>')
    .description('replace values in $EDITOR, which shows the keys alone')
    .action(callService(context, edit))
}

async function send(name: string, { client, context, query }: ServiceCall, changes: Changes): Promise<void> {
  const changed = await client.call(updateSecret, { params: { name }, query, body: changes })
  context.terminal.note(`secret ${name} has ${changed.keys.join(', ')}`)
}

async function findSecret(name: string, { client, query }: ServiceCall): Promise<SecretItem> {
  const { items } = await listPages<SecretItem>(client, listSecrets, { query })
  const found = items.find((item) => item.name === name)
  if (found !== undefined) return found
  const names = items.map((item) => item.name)
  throw new SvcError('NotFound', explainMissing('secret', name, names))
}

async function show(call: ServiceCall, name: string): Promise<void> {
  const { context, options } = call
  const found = await findSecret(name, call)
  await printAnswer(context, options, found, () =>
    formatFields([
      ['name', found.name],
      ['namespace', found.namespace],
      ['type', found.type],
      ['keys', found.keys.join(', ')],
      ['hosts', found.allowedHosts?.join(', ')],
      ['created', found.createdAt],
    ]),
  )
  if (options.output === 'table') context.terminal.note('its values are never shown')
}

const preface = `# The keys of the secret; its values are not shown. A key that is left empty keeps its value, a line that is taken out
# is removed with its value, and a new line adds one.
`

async function edit(call: ServiceCall, name: string): Promise<void> {
  const { context } = call
  const { keys } = await findSecret(name, call)
  const unchanged = Object.fromEntries(keys.map((key) => [key, '']))
  const before = `${preface}${await formatYaml(unchanged)}\n`
  const after = await context.editText(before, `${name}.yaml`)
  const { parse } = await import('yaml')
  const changes = readChanges(keys, after === before ? unchanged : readDocument(() => parse(after)))
  const isNothing = changes.remove.length === 0 && Object.keys(changes.stringData).length === 0
  if (isNothing) return context.terminal.note(`secret ${name} is unchanged`)
  await send(name, call, changes)
}

/** What is said of a fault names keys alone. */
function readChanges(keys: readonly string[], left: unknown): Changes {
  if (!isJsonObject(left))
    throw new SvcError('InvalidRequest', 'what the editor left is not a list of keys; nothing was changed')
  const filled = Object.entries(left).filter(([, value]) => value !== '' && value !== null)
  const odd = filled.find(([, value]) => typeof value !== 'string' && typeof value !== 'number')
  if (odd !== undefined) throw new SvcError('InvalidRequest', `the value of ${odd[0]} is not text: put it into quotes`)
  return {
    stringData: Object.fromEntries(filled.map(([key, value]) => [key, String(value)])),
    remove: keys.filter((key) => !Object.hasOwn(left, key)),
  }
}

export type ValueOptions = { fromEnv?: string[]; fromFile?: string[] }

export function addValueOptions(command: Command): Command {
  return command
    .option(
      '--from-env <key=VARIABLE>',
      'take the value of a key from an environment variable, `VARIABLE` alone: of the key of its name; may be repeated',
      gather,
    )
    .option('--from-file <key=path>', 'the same from a file, `-` for standard input; may be repeated', gather)
    .addHelpText('after', '\nA line break at the end of a file is not part of the value.')
}

export async function collectValues(flags: ValueOptions, context: CliContext): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  const named = (flags.fromEnv ?? []).map((pair) => (pair.includes('=') ? pair : `${pair}=${pair}`))
  for (const [key, variable] of named.map((pair) => splitPair(pair, 'api-key=MY_VARIABLE'))) {
    const value = context.readEnvironment(variable)
    if (!value) throw new SvcError('InvalidRequest', `the environment variable ${variable} is empty or not set`)
    values[key] = value
  }
  for (const [key, path] of (flags.fromFile ?? []).map((pair) => splitPair(pair, 'api-key=key.txt'))) {
    const [file] = await context.readTexts(path)
    values[key] = (file?.text ?? '').replace(/\r?\n$/, '')
  }
  return values
}

function splitPair(pair: string, example: string): [string, string] {
  const at = pair.indexOf('=')
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)]
  throw new SvcError('InvalidRequest', `\`${pair}\` must be KEY=SOURCE, such as ${example}`)
}
