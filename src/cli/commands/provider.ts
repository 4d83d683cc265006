// provider create: a provider from options, with its key from a secret or the environment.
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { createProvider } from '../../contract/api/providers.ts'
import { createSecret, deleteSecret } from '../../contract/api/secrets.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'
import { typed } from '../typed.ts'

type ProviderOptions = { type: string; model?: string; baseUrl?: string; secret?: string; keyFromEnv?: string }
type SecretRef = { name: string; key?: string }

const entryOfKey = 'api-key'

export function addProviderCreate(group: Command, context: CliContext): void {
  group
    .command('create <name>')
    .description('make a provider; the key comes from a secret or the environment')
    .requiredOption('--type <type>', 'llma, llmo, azure-llmo or demo')
    .option('--model <name>', 'model for tasks that name none')
    .option('--base-url <url>', 'address when it is not the vendor’s own, such as a local model server')
    .option('--secret <name[/key]>', 'secret that holds the API key')
    .option('--key-from-env <VARIABLE>', 'store the value of this variable as a secret and use it')
    .action((name: string, given: ProviderOptions, command: Command) => create(name, given, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

async function create(name: string, given: ProviderOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const key = readKey(given, context)
  const client = await context.connect(options)
  const made = key === undefined ? undefined : await storeKey(client, { name: `${name}-key`, key }, options)
  const spec = buildSpec(given, made ?? readSecretRef(given.secret))
  try {
    await client.call(createProvider, { body: { name, ...namespaceOf(options), spec } })
  } catch (error) {
    // So that the next try does not find a secret that nobody wanted.
    if (made) await client.call(deleteSecret, { params: { name: made.name }, query: namespaceOf(options) })
    throw error
  }
  const model = given.model === undefined && given.type !== 'demo' ? ' --model MODEL' : ''
  context.terminal.note(`provider ${name} created; try it: ${typed(`run --provider ${name}${model} "say hello"`)}`)
}

function buildSpec(given: ProviderOptions, secretRef: SecretRef | undefined) {
  return {
    // The service names the types there are when this is none of them.
    type: given.type as 'llma',
    ...(given.model === undefined ? {} : { defaultModel: given.model }),
    ...(given.baseUrl === undefined ? {} : { baseURL: given.baseUrl }),
    ...(secretRef === undefined ? {} : { secretRef }),
  }
}

function readSecretRef(text: string | undefined): SecretRef | undefined {
  if (text === undefined) return undefined
  const [name = '', key] = text.split('/')
  return key === undefined ? { name } : { name, key }
}

function readKey({ keyFromEnv, secret }: ProviderOptions, context: CliContext): string | undefined {
  if (keyFromEnv === undefined) return undefined
  if (secret !== undefined) throw new SvcError('InvalidRequest', 'give --secret or --key-from-env, not both')
  const value = context.readEnvironment(keyFromEnv)
  if (value) return value
  throw new SvcError('InvalidRequest', `the environment variable ${keyFromEnv} is empty or not set`)
}

async function storeKey(client: Client, { name, key }: { name: string; key: string }, options: GlobalOptions) {
  await client.call(createSecret, { body: { name, ...namespaceOf(options), stringData: { [entryOfKey]: key } } })
  return { name, key: entryOfKey }
}
