// agent, provider, tool and skill: the things that tasks refer to.
import type { Command } from 'commander'
import { createAgent } from '../../contract/api/agents.ts'
import { createProvider } from '../../contract/api/providers.ts'
import { createSecret } from '../../contract/api/secrets.ts'
import { SvcError } from '../../errors.ts'
import { type CatalogEntry, catalog } from '../catalog.ts'
import type { CliContext } from '../context.ts'
import { namespaceOf, printAnswer, readGlobalOptions } from '../global-options.ts'
import { type Column, formatAge, formatData, formatTable } from '../output.ts'

/** What lists of all kinds have in common; built-in tools and skill summaries carry no metadata. */
export type ListedItem = {
  name?: string
  description?: string
  phase?: string
  builtin?: boolean
  available?: boolean
  metadata?: { name: string; creationTimestamp?: string }
  spec?: {
    type?: string
    description?: string
    defaultModel?: string
    model?: { name?: string }
    providerRef?: { name: string }
  }
  status?: { ready?: boolean; phase?: string; message?: string }
}

export function addCatalogCommands(program: Command, context: CliContext): void {
  const groups = new Map<string, Command>()
  for (const entry of catalog.filter((candidate) => candidate.kind !== 'Task')) {
    const name = entry.words[0] ?? entry.kind
    const group = program.command(name).description(`${entry.kind} resources`)
    addReadCommands(group, entry, context)
    groups.set(entry.kind, group)
  }
  addProviderCreate(groups.get('Provider'), context)
  addAgentCreate(groups.get('Agent'), context)
}

function addReadCommands(group: Command, entry: CatalogEntry, context: CliContext): void {
  group
    .command('list')
    .alias('ls')
    .description(`list ${entry.words[1]}`)
    .action((_given: unknown, command: Command) => listEntries(entry, command, context))
  group
    .command('get <name>')
    .description(`show one; YAML unless -o json`)
    .action((name: string, _given: unknown, command: Command) => showEntry(entry, name, { command, context }))
  group
    .command('delete <name>')
    .alias('rm')
    .description('remove one')
    .action((name: string, _given: unknown, command: Command) => removeEntry(entry, name, { command, context }))
}

type Invocation = { command: Command; context: CliContext }

const columns = (now: Date): Column<ListedItem>[] => [
  { title: 'NAME', value: (item) => item.metadata?.name ?? item.name },
  { title: 'TYPE', value: (item) => item.spec?.type ?? (item.builtin ? 'built-in' : undefined) },
  { title: 'MODEL', value: (item) => item.spec?.defaultModel ?? item.spec?.model?.name },
  { title: 'READY', value: (item) => item.status?.ready ?? item.available ?? item.status?.phase ?? item.phase },
  { title: 'AGE', value: (item) => formatAge(item.metadata?.creationTimestamp, now) },
  {
    title: 'DESCRIPTION',
    value: (item) => (item.status?.message ?? item.spec?.description ?? item.description)?.slice(0, 80),
  },
]

export async function listEntries(entry: CatalogEntry, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { items } = (await client.call(entry.list, { query: namespaceOf(options) })) as unknown as {
    items: ListedItem[]
  }
  printAnswer(context, options, items, () => formatTable(items, usedColumns(columns(context.now()), items)))
}

/** Leaves out columns that no item fills. */
function usedColumns(all: Column<ListedItem>[], items: ListedItem[]): Column<ListedItem>[] {
  return all.filter((column) => column.title === 'NAME' || items.some((item) => (column.value(item) ?? '') !== ''))
}

export async function showEntry(entry: CatalogEntry, name: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const value: unknown = await client.call(entry.get, {
    params: { [entry.parameter]: name },
    query: namespaceOf(options),
  })
  printAnswer(context, options, value, () => formatData('yaml', value) ?? '')
}

export async function removeEntry(entry: CatalogEntry, name: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  await client.call(entry.remove, { params: { [entry.parameter]: name }, query: namespaceOf(options) })
  context.terminal.note(`${entry.words[0]} ${name} deleted`)
}

type ProviderOptions = { type: string; model?: string; baseUrl?: string; secret?: string; keyFromEnv?: string }

function addProviderCreate(group: Command | undefined, context: CliContext): void {
  group
    ?.command('create <name>')
    .description('make a provider; the key comes from a secret or the environment')
    .requiredOption('--type <type>', 'llma, llmo, azure-llmo or demo')
    .option('--model <name>', 'default model')
    .option('--base-url <url>', 'address when it is not the vendor’s own, such as a local model server')
    .option('--secret <name[/key]>', 'secret that holds the API key')
    .option('--key-from-env <VARIABLE>', 'store the value of this variable as a secret and use it')
    .action((name: string, given: ProviderOptions, command: Command) => makeProvider(name, given, { command, context }))
}

async function makeProvider(name: string, given: ProviderOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  let secretRef: { name: string; key?: string } | undefined
  if (given.secret) {
    const [secret = '', key] = given.secret.split('/')
    secretRef = key === undefined ? { name: secret } : { name: secret, key }
  }
  if (given.keyFromEnv) {
    const value = context.readEnvironment(given.keyFromEnv)
    if (!value) throw new SvcError('InvalidRequest', `the environment variable ${given.keyFromEnv} is empty or not set`)
    secretRef = { name: `${name}-key`, key: 'api-key' }
    await client.call(createSecret, {
      body: { name: secretRef.name, ...namespaceOf(options), stringData: { 'api-key': value } },
    })
  }
  const spec = {
    type: given.type as 'llma',
    ...(given.model === undefined ? {} : { defaultModel: given.model }),
    ...(given.baseUrl === undefined ? {} : { baseURL: given.baseUrl }),
    ...(secretRef === undefined ? {} : { secretRef }),
  }
  await client.call(createProvider, { body: { name, ...namespaceOf(options), spec } })
  context.terminal.note(`provider ${name} created; try it: svc run --provider ${name} "say hello"`)
}

type AgentOptions = { provider?: string; model?: string; system?: string; tool?: string[] }

function addAgentCreate(group: Command | undefined, context: CliContext): void {
  group
    ?.command('create <name>')
    .description('make an agent')
    .option('--provider <name>', 'provider to ask')
    .option('--model <name>', 'model of the provider')
    .option('--system <text>', 'system prompt')
    .option('--tool <name...>', 'tools it may use')
    .action((name: string, given: AgentOptions, command: Command) => makeAgent(name, given, { command, context }))
}

async function makeAgent(name: string, given: AgentOptions, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const spec = {
    ...(given.provider === undefined ? {} : { providerRef: { name: given.provider } }),
    ...(given.model === undefined ? {} : { model: { name: given.model } }),
    ...(given.system === undefined ? {} : { systemPrompt: { inline: given.system } }),
    ...(given.tool === undefined ? {} : { tools: given.tool.map((tool) => ({ name: tool })) }),
  }
  await client.call(createAgent, { body: { name, ...namespaceOf(options), spec } })
  context.terminal.note(`agent ${name} created; try it: svc run --agent ${name} "say hello"`)
}
