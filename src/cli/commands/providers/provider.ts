// provider: what it is made of, with key and prices; trying it; which one is the default.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import {
  type AppliedPrice,
  listPrices,
  listProviders,
  type ProviderTest,
  testProvider,
} from '../../../contract/api/providers/providers.ts'
import { createSecret, deleteSecret, updateSecret } from '../../../contract/api/resources/secrets.ts'
import { type ModelPrice, type Provider, vendorTypes } from '../../../contract/kinds/providers/provider.ts'
import { describeVendor } from '../../../contract/kinds/providers/vendor-names.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { doEachName, ExitSignal, exitCodes } from '../../failure.ts'
import { namespaceQuery } from '../../global-options.ts'
import { changeObject } from '../../objects/change-object.ts'
import { findEntry } from '../../objects/kinds.ts'
import { adviseModel, offerModel, tryFreshProvider } from '../../objects/model-offer.ts'
import { explainMissing } from '../../objects/references.ts'
import { readOne, readReference, type Spec } from '../../objects/spec-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { listPages } from '../../output/paging.ts'
import type { SpecCall, SpecCommands } from '../resources/spec-commands.ts'
import { requireVendor } from './vendor-type.ts'

const entryOfKey = 'api-key'

export const providerCommands: SpecCommands = {
  description: 'make a provider; the key comes from a secret or the environment',
  options: [
    {
      flags: '--type <type>',
      description: `whose API it is: ${vendorTypes.map(describeVendor).join(', ')}; anthropic, openai and azure-openai are the same words (default: as key or address tell)`,
      path: 'type',
    },
    { flags: '--model <name>', description: 'model for tasks that name none', path: 'defaultModel' },
    {
      flags: '--base-url <url>',
      description: 'address when it is not the vendor’s own, such as a local model server',
      path: 'baseURL',
    },
    {
      flags: '--secret <name[/key]>',
      description: 'secret that holds the API key',
      path: 'secretRef',
      names: 'secret',
      read: readOne(readReference),
    },
    {
      flags: '--price <MODEL=IN/OUT>',
      description:
        "price of a million tokens, * for any text: 'large-*=3/15', with cached and written: 'm=3/15/0.3/3.75 EUR'",
      path: 'prices',
      isRepeated: true,
      read: (value, { before }) => mergePrices((before ?? []) as ModelPrice[], [value].flat()),
    },
    {
      flags: '--server-tools <on|off>',
      description: 'whether the proxies add the service’s tools to requests for it',
      path: 'serverTools',
      choices: ['on', 'off'],
      read: readOne((text) => text === 'on'),
    },
  ],
  extra: {
    options: [
      { flags: '--key-from-env <VARIABLE>', description: 'store the value of this variable as a secret and use it' },
    ],
    async make(typed, call) {
      const key = readKey(call)
      const spec = withType(typed, call, key)
      await requireNew(call)
      if (key === undefined) return { spec }
      await storeKey(call, key).catch((error: unknown) => explainLeftover(call, error))
      const { client, options } = call
      const params = { name: secretOf(call) }
      // So that the next try does not find a secret that nobody wanted.
      const undo = () => client.call(deleteSecret, { params, query: namespaceQuery(options) })
      return { spec: withKey(spec, call), undo: async () => void (await undo()) }
    },
    async change(spec, call) {
      const key = readKey(call)
      if (key === undefined) return spec
      await storeKey(call, key).catch((error: unknown) => replaceKey(call, key, error))
      return withKey(spec, call)
    },
  },
  async finish(call, { type, defaultModel }) {
    const { name, context } = call
    const found = type === 'demo' ? undefined : await tryFreshProvider(call)
    if (found?.ok === false) return context.terminal.colors.red(`it does not answer: ${found.message}`)
    const model = found === undefined ? 'demo' : (defaultModel ?? (await offerModel(call, found.models)))
    if (model === undefined) return `it has no model yet; ${adviseModel(name, found?.models ?? [])}`
    return `try it: ${commandHint(`run --provider ${name} "say hello"`)}`
  },
}

/** What was not said is read of the key and the address. */
function withType(spec: Spec, { flags: { keyFromEnv }, context }: SpecCall, key: string | undefined): Spec {
  if (spec.type !== undefined) return spec
  const baseUrl = typeof spec.baseURL === 'string' ? spec.baseURL : undefined
  const type = requireVendor({ variable: typeof keyFromEnv === 'string' ? keyFromEnv : undefined, key, baseUrl })
  context.terminal.note(`its type is ${describeVendor(type)}; --type says another one`)
  return { ...spec, type }
}

/** AlreadyExists, before a key is stored for it. */
async function requireNew({ name, client, options }: SpecCall): Promise<void> {
  const { items } = await listPages<Provider>(client, listProviders, { query: namespaceQuery(options) })
  if (!items.some(({ metadata }) => metadata.name === name)) return
  const ways = `\`${commandHint(`provider update ${name}`)}\` changes it, \`${commandHint(`provider delete ${name}`)}\` removes it`
  throw new SvcError('AlreadyExists', `there is a provider ${name} already: ${ways}`)
}

/** The Secret of an earlier provider of that name. */
function explainLeftover(call: SpecCall, error: unknown): never {
  if (!isSvcError(error, 'AlreadyExists')) throw error
  const secret = secretOf(call)
  const ways = `--secret ${secret} uses it, \`${commandHint(`secret delete ${secret}`)}\` removes it`
  throw new SvcError('AlreadyExists', `a key of an earlier provider ${call.name} is in the secret ${secret}: ${ways}`)
}

function secretOf({ name }: SpecCall): string {
  return `${name}-key`
}

function withKey(spec: Spec, call: SpecCall): Spec {
  return { ...spec, secretRef: { name: secretOf(call), key: entryOfKey } }
}

function readKey({ flags: { keyFromEnv, secret }, context }: SpecCall): string | undefined {
  if (typeof keyFromEnv !== 'string') return undefined
  if (secret !== undefined) throw new SvcError('InvalidRequest', 'give --secret or --key-from-env, not both')
  const value = context.readEnvironment(keyFromEnv)
  if (value) return value
  throw new SvcError('InvalidRequest', `the environment variable ${keyFromEnv} is empty or not set`)
}

async function storeKey(call: SpecCall, key: string): Promise<void> {
  const body = { name: secretOf(call), ...namespaceQuery(call.options), stringData: { [entryOfKey]: key } }
  await call.client.call(createSecret, { body })
}

/** The secret is there already: the provider's own, since it bears its name. */
async function replaceKey(call: SpecCall, key: string, error: unknown): Promise<void> {
  if (!isSvcError(error, 'AlreadyExists')) throw error
  const { client, options, context } = call
  const target = { params: { name: secretOf(call) }, query: namespaceQuery(options) }
  await client.call(updateSecret, { ...target, body: { stringData: { [entryOfKey]: key } } })
  context.terminal.note(`the key in secret ${secretOf(call)} was replaced`)
}

export function addProviderTest(group: Command, context: CliContext): void {
  group
    .command('test <names...>')
    .description('try one provider, or several, now: asks for its models, which costs nothing')
    .action(callService(context, testEach))
}

async function testEach({ client, options, context, query }: ServiceCall, names: string[]): Promise<void> {
  const found: (ProviderTest & { name: string })[] = []
  try {
    await doEachName(names, context.terminal, async (name) => {
      found.push({ name, ...(await client.call(testProvider, { params: { name }, query })) })
    })
  } finally {
    const answer = names.length === 1 ? found[0] : found
    if (found.length > 0) await printAnswer(context, options, answer, () => found.map(describeTest).join('\n'))
  }
  if (found.some(({ ok }) => !ok)) throw new ExitSignal(exitCodes.failed)
}

function describeTest({ name, ok, reason, message, durationMs }: ProviderTest & { name: string }): string {
  return ok ? `${name}: ok, ${message} (${durationMs} ms)` : `${name}: ${reason}, ${message}`
}

export function addProviderModels(group: Command, context: CliContext): void {
  group
    .command('models <name>')
    .description('the models that its vendor offers')
    .action(callService(context, showModels))
}

async function showModels({ client, options, context }: ServiceCall, name: string): Promise<void> {
  const found = await tryFreshProvider({ client, options, context, name })
  if (!found.ok) throw new SvcError('UpstreamFailed', `provider ${name}: ${found.message}`)
  if (found.models.length === 0 && options.output === 'table')
    return context.terminal.note(`the vendor of ${name} lists no models`)
  await printAnswer(context, options, found.models, () => found.models.join('\n'))
}

export function addProviderPrices(group: Command, context: CliContext): void {
  const command = group
    .command('prices <name>')
    .description('what its calls cost: its own prices, which win, and those that vendors publish')
    .option('--model <name>', 'only the price that applies to this model')
  addList(command, context, prices)
}

const prices: ListCommand<AppliedPrice, { model?: string }> = {
  route: listPrices,
  parameter: 'name',
  filters: ({ model }) => ({ model }),
  columns: () => [
    { title: 'MODEL', value: ({ model }) => model },
    { title: 'IN', value: ({ inputPerMillion }) => inputPerMillion },
    { title: 'OUT', value: ({ outputPerMillion }) => outputPerMillion },
    { title: 'CACHED', value: ({ cachedInputPerMillion }) => cachedInputPerMillion },
    { title: 'WRITTEN', value: ({ cacheWritePerMillion }) => cacheWritePerMillion },
    { title: 'CURRENCY', value: ({ currency }) => currency },
    { title: 'FROM', value: ({ from, vendor }) => (from === 'provider' ? 'this provider' : vendor) },
    { title: 'AS OF', value: ({ asOf }) => asOf },
    { title: 'SOURCE', value: ({ source }) => source, wide: true },
  ],
  empty: (_scope, { args: [name], flags: { model } }) => {
    const hint = commandHint(`provider update ${name} --price '${model}=3/15'`)
    return `no price is known for ${model}: its calls have no cost; \`${hint}\` sets one`
  },
}

export function addProviderDefault(group: Command, context: CliContext): void {
  group
    .command('set-default <name>')
    .description('let it answer in its namespace where no provider is named, whatever keys the environment has')
    .action(
      callService(context, async ({ client, query }, name: string) => {
        await setDefault(client, name, query)
        context.terminal.note(`provider ${name} answers where no provider is named`)
      }),
    )
}

async function setDefault(client: Client, name: string, query: { namespace?: string }): Promise<void> {
  const { items } = await listPages<Provider>(client, listProviders, { query })
  const chosen = items.find(({ metadata }) => metadata.name === name)
  if (chosen === undefined) {
    const names = items.map(({ metadata }) => metadata.name)
    throw new SvcError('NotFound', explainMissing('provider', name, names))
  }
  if (chosen.spec.type === 'demo') {
    throw new SvcError(
      'InvalidRequest',
      'the demo provider is not a language model, and answers only where it is named',
    )
  }
  const mark = (one: string, change: (spec: Spec) => Spec) =>
    changeObject(client, findEntry('Provider'), { name: one, query }, change)
  for (const { metadata, spec } of items) {
    if (spec.default && metadata.name !== name) await mark(metadata.name, ({ default: _mark, ...others }) => others)
  }
  await mark(name, (spec) => ({ ...spec, default: true }))
}

const amounts = ['inputPerMillion', 'outputPerMillion', 'cachedInputPerMillion', 'cacheWritePerMillion'] as const

function refuse(text: string): never {
  throw new SvcError(
    'InvalidRequest',
    `--price \`${text}\` must be MODEL=IN/OUT[/CACHED[/WRITTEN]], such as 'large-*=3/15/0.3/3.75 EUR'; MODEL= takes one out`,
  )
}

/** Undefined: the model's price is taken out. */
function readPrice(text: string): { model: string; price: ModelPrice | undefined } {
  // Names of models may hold everything but what a price is made of at the end.
  const [, model, figures = '', currency] = /^(.+)=([\d./]*)(?: ([A-Z]{3}))?$/.exec(text) ?? refuse(text)
  if (model === undefined) refuse(text)
  if (figures === '') return { model, price: undefined }
  const numbers = figures.split('/')
  const isWrong =
    numbers.length < 2 || numbers.length > amounts.length || !numbers.every((one) => /^\d+(\.\d+)?$/.test(one))
  if (isWrong) refuse(text)
  const priced = Object.fromEntries(numbers.map((one, index) => [amounts[index], Number(one)]))
  return { model, price: { model, ...priced, ...(currency !== undefined && { currency }) } as ModelPrice }
}

/** The table with these prices in the place of those that their models had. */
export function mergePrices(before: readonly ModelPrice[], texts: readonly string[]): ModelPrice[] | undefined {
  const table = new Map(before.map((price) => [price.model, price]))
  for (const { model, price } of texts.map(readPrice)) {
    if (price === undefined) table.delete(model)
    else table.set(model, price)
  }
  return table.size === 0 ? undefined : [...table.values()]
}
