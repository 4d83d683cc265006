// Which provider and model answer a conversation: shows them, and changes them from the next message on.
import { listProviders } from '../../contract/api/providers/providers.ts'
import { listLlmoModels } from '../../contract/api/providers/proxies.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { listPages } from '../output/paging.ts'
import type { Talk } from './talk.ts'

type Model = { provider: string; model: string }

export async function answerProvider(talk: Talk, name: string): Promise<undefined> {
  const { items } = await listPages<Provider>(talk.client, listProviders, { query: queryOf(talk) })
  if (name === '') return sayAll(talk, [describeAnswering(talk), ...items.map(describeProvider)])
  const provider = items.find(({ metadata }) => metadata.name === name)
  if (provider === undefined) {
    return sayAll(talk, [`there is no provider ${name}; there are:`, ...items.map(describeProvider)])
  }
  const { defaultModel } = provider.spec
  change(talk, { provider: name, model: undefined }, defaultModel)
  const hint = defaultModel === undefined ? ['it names no model of its own: /model NAME chooses one'] : []
  sayAll(talk, [describeAnswering(talk), ...hint])
}

export async function answerModel(talk: Talk, name: string): Promise<undefined> {
  const models = await listModels(talk)
  const current = talk.answering.provider
  const own = models.filter(({ provider }) => provider === current)
  const shown = own.length > 0 ? own : models
  if (name === '') return sayAll(talk, [describeAnswering(talk), ...shown.map(nameModel)])
  const found = findModel(models, own, name)
  if (found.length === 1) return choose(talk, found[0])
  if (found.length > 1) return sayAll(talk, [`several providers have a model ${name}:`, ...found.map(nameModel)])
  // A vendor without a list may have the model anyway.
  if (current !== undefined && own.length <= 1) {
    choose(talk, { provider: current, model: name })
    return sayAll(talk, [`${current} does not list its models: the next message will show whether it has ${name}`])
  }
  sayAll(talk, [`there is no model ${name}; there are:`, ...shown.map(nameModel)])
}

/** A plain model name is searched at the current provider first; `provider/model` names any. */
function findModel(models: Model[], own: Model[], name: string): Model[] {
  const named = (each: Model) => each.model === name
  const found = own.find(named)
  return found === undefined ? models.filter((each) => named(each) || nameId(each) === name) : [found]
}

/** A session may remember a provider of another namespace: it is named only when it changes. */
function choose(talk: Talk, chosen: Model | undefined): undefined {
  if (chosen === undefined) return
  const { provider, model } = chosen
  change(talk, provider === talk.answering.provider ? { model } : { provider, model }, model)
  sayAll(talk, [describeAnswering(talk)])
}

function change(talk: Talk, wish: { provider?: string; model: string | undefined }, model: string | undefined): void {
  talk.request = { ...talk.request, ...wish }
  talk.answering = { provider: wish.provider ?? talk.answering.provider, model }
}

/** As the proxies list them: `provider/model`, and the default provider's also by their own name. */
async function listModels({ client, request }: Talk): Promise<Model[]> {
  const { data } = (await client.call(listLlmoModels, { query: { namespace: request.namespace } })) as {
    data: { id: string; owned_by: string }[]
  }
  return data
    .filter(({ id, owned_by }) => id.startsWith(`${owned_by}/`))
    .map(({ id, owned_by }) => ({ provider: owned_by, model: id.slice(owned_by.length + 1) }))
}

function queryOf({ request: { namespace } }: Talk) {
  return { namespace }
}

function nameId({ provider, model }: Model): string {
  return `${provider}/${model}`
}

function nameModel(model: Model): string {
  return `  ${nameId(model)}`
}

function describeProvider({ metadata, spec, status }: Provider): string {
  const model = spec.defaultModel === undefined ? '' : `, model ${spec.defaultModel}`
  const fault = status?.ready === false ? `, not ready: ${status.message ?? status.lastError ?? 'no reason given'}` : ''
  return `  ${metadata.name} (${spec.type}${model})${fault}`
}

function describeAnswering({ answering: { provider, model } }: Talk): string {
  if (provider === undefined && model === undefined) return 'the default provider of the service answers'
  const what = model === undefined ? 'the default model' : `model ${model}`
  return `${what} of ${provider === undefined ? 'the default provider' : `provider ${provider}`} answers`
}

function sayAll({ context }: Talk, lines: string[]): undefined {
  context.terminal.note(lines.join('\n'))
}
