// Which provider and model answer a prompt without an agent.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { createProvider, getProvider, listProviders } from '../../contract/api/providers/providers.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { ignoring, SvcError } from '../../errors.ts'
import { chooseDefault } from '../../rules/providers/model-choice.ts'
import type { CliCall, GlobalOptions } from '../context.ts'
import { namespaceQuery } from '../global-options.ts'
import { listPages } from '../output/paging.ts'
import { askNumbered } from '../output/questions.ts'
import { adviseModel, offerModel, tryFreshProvider } from './model-offer.ts'
import { requireNamed } from './references.ts'

export type ChosenModel = { provider?: string | undefined; model?: string | undefined }

export type ModelWish = ChosenModel & {
  /** The service's setting `--chat-provider`. */
  preferred?: string[]
  /** The demo provider will not do. */
  isReal?: boolean
}

/**
 * The named provider, else the one that the service uses when none is named; with several a person is asked. The demo
 * provider is used only when no other is set up, and announced. InvalidRequest when the choice is unclear, or no model
 * is known.
 */
export async function chooseModel(client: Client, wish: ModelWish, call: CliCall): Promise<ChosenModel> {
  const provider = await chooseProvider(client, wish, call)
  if (wish.isReal && (provider === undefined || provider.spec.type === 'demo'))
    throw new SvcError('InvalidRequest', `this needs a language model, and none is set up: ${advise(call)}`)
  if (provider !== undefined) {
    return { provider: provider.metadata.name, model: await chooseModelOf(client, provider, { wish, call }) }
  }
  if (wish.model !== undefined)
    throw new SvcError('InvalidRequest', `no provider can serve ${wish.model}: ${advise(call)}`)
  await takeDemo(client, call)
  return { provider: 'demo' }
}

async function chooseProvider(client: Client, wish: ModelWish, call: CliCall): Promise<Provider | undefined> {
  const { options } = call
  if (wish.provider !== undefined) {
    const named = await findProvider(client, options, wish.provider)
    if (named === undefined) await requireNamed('provider', wish.provider, { ...call, client })
    return named
  }
  const { items } = await listPages<Provider>(client, listProviders, { query: namespaceQuery(options) })
  const found = chooseDefault(items, wish.preferred)
  if (found.outcome === 'chosen') return found.provider
  return found.outcome === 'none' ? undefined : askWhich(items, found.names, call)
}

/** Asks which of several, by number or name; when nobody can be asked, the error shows the command to use. */
async function askWhich(providers: Provider[], names: string[], { context }: CliCall): Promise<Provider> {
  const { openPrompt, terminal } = context
  const others = `give --provider ${names.join(' or --provider ')}, or choose one for good: ${commandHint(`provider set-default ${names[0]}`)}`
  const refusal = new SvcError('InvalidRequest', `several providers are set up and none is the default: ${others}`)
  if (openPrompt === undefined) throw refusal
  terminal.note('several providers are set up and none is the default:')
  const index = await askNumbered(names, { terminal, openPrompt })
  const chosen = providers.find(({ metadata }) => metadata.name === names[index ?? -1])
  if (chosen === undefined) throw refusal
  return chosen
}

async function chooseModelOf(
  client: Client,
  { metadata, spec }: Provider,
  { wish, call }: { wish: ChosenModel; call: CliCall },
): Promise<string | undefined> {
  if (wish.model !== undefined || spec.defaultModel !== undefined || spec.type === 'demo') return wish.model
  const { defaultModel } = call.context.readModelHints(call.options)
  if (defaultModel !== undefined) return defaultModel
  const { name } = metadata
  const asking = { ...call, client, name }
  const { ok, reason, message, models } = await tryFreshProvider(asking)
  // Whatever the model, it could not be called.
  if (reason === 'MissingApiKey') throw new SvcError('InvalidRequest', message)
  const chosen = await offerModel(asking, models)
  if (chosen !== undefined) return chosen
  const fault = ok ? '' : `, and its vendor cannot be asked (${message.replace(/\.$/, '')})`
  throw new SvcError(
    'InvalidRequest',
    `the provider ${name} has no model of its own${fault}; ${adviseModel(name, models)}`,
  )
}

async function takeDemo(client: Client, call: CliCall): Promise<void> {
  const { terminal } = call.context
  if (!(await findProvider(client, call.options, 'demo'))) await createDemo(client, call.options)
  terminal.note('no language model is set up: using the demo provider, which follows only simple instructions.')
  terminal.note(`For a real one: ${advise(call)}`)
}

function advise({ context, options }: CliCall): string {
  const [key] = context.readModelHints(options).keys
  const create = commandHint('provider create main --key-from-env')
  if (key !== undefined) return `the service does not have your ${key}; give it: ${create} ${key}`
  return `export ANTHROPIC_API_KEY (Anthropic) or OPENAI_API_KEY (OpenAI), then: ${create} ANTHROPIC_API_KEY`
}

async function findProvider(client: Client, options: GlobalOptions, name: string): Promise<Provider | undefined> {
  return ignoring(client.call(getProvider, { params: { name }, query: namespaceQuery(options) }), 'NotFound')
}

async function createDemo(client: Client, options: GlobalOptions): Promise<void> {
  const spec = { type: 'demo' as const, defaultModel: 'demo' }
  await ignoring(
    client.call(createProvider, { body: { name: 'demo', ...namespaceQuery(options), spec } }),
    'AlreadyExists',
  )
}
