// secret: names are shown, values never.
import type { Command } from 'commander'
import { typed } from '../../../client/typed.ts'
import { createSecret, deleteSecret, listSecrets, type SecretItem } from '../../../contract/api/resources/secrets.ts'
import { SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { addValueOptions, collectValues, type ValueOptions } from '../../files/secret-values.ts'
import { requireLocal } from '../../follow/stopping.ts'
import { addAllNamespacesOption, gather, namespaceOf, readGlobalOptions, scopeOf } from '../../global-options.ts'
import { describeScope, printList } from '../../output/answers.ts'
import { formatAge } from '../../output/output.ts'
import { listNewest } from '../../output/paging.ts'
import { addSecretChanges } from './secret-changes.ts'

export function addSecretCommands(program: Command, context: CliContext): void {
  const secret = program.command('secret').description('keys and passwords that resources refer to')
  addAllNamespacesOption(secret.command('list'))
    .alias('ls')
    .description('names of secrets, newest first')
    .action((_options: unknown, command: Command) => listAll(command, context))
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
    .action(async (names: string[], _options: unknown, command: Command) => {
      const options = readGlobalOptions(command)
      const client = await context.connect(options)
      await doEachName(names, context.terminal, async (name) => {
        await client.call(deleteSecret, { params: { name }, query: namespaceOf(options) })
        context.terminal.note(`secret ${name} deleted`)
      })
    })
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

async function listAll(command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { items } = await listNewest<SecretItem>(client, listSecrets, { query: scopeOf(options) })
  await printList(context, options, {
    items,
    columns: [
      { title: 'NAMESPACE', value: (item) => item.namespace },
      { title: 'NAME', value: (item) => item.name },
      { title: 'TYPE', value: (item) => item.type },
      { title: 'KEYS', value: (item) => item.keys.join(',') },
      { title: 'HOSTS', value: (item) => item.allowedHosts?.join(',') },
      { title: 'AGE', value: (item) => formatAge(item.createdAt, context.now()) },
    ],
    empty: `no secrets${describeScope(options)}; \`${typed('secret create --help')}\` tells how to make one`,
  })
}

async function create(name: string, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const given = command.opts<ValueOptions & { allowHost?: string[] }>()
  const stringData = await collectValues(given, context)
  if (Object.keys(stringData).length === 0) {
    const example = '--from-env api-key=MY_VARIABLE or --from-file api-key=PATH'
    throw new SvcError('InvalidRequest', `a secret needs a value: ${example}`)
  }
  const client = await context.connect(options)
  const hosts = given.allowHost === undefined ? {} : { allowedHosts: given.allowHost }
  await client.call(createSecret, { body: { name, ...namespaceOf(options), stringData, ...hosts } })
  context.terminal.note(`secret ${name} created with ${Object.keys(stringData).join(', ')}`)
}
