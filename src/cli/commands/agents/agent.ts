// agent: what can be said of one in options, or is asked for at the keyboard; anything more is for `svc apply`.
import { setTimeout as pause } from 'node:timers/promises'
import { commandHint } from '../../../client/command-hint.ts'
import type { OpenPrompt } from '../../../client/machine.ts'
import { getAgent } from '../../../contract/api/agents/agents.ts'
import { listProviders } from '../../../contract/api/providers/providers.ts'
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import {
  describeRuntime,
  type RuntimeType,
  runtimeNames,
  runtimeTypes,
} from '../../../contract/kinds/agents/runtime-types.ts'
import type { Provider } from '../../../contract/kinds/providers/provider.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { chooseDefault } from '../../../rules/providers/model-choice.ts'
import { namespaceQuery } from '../../global-options.ts'
import { adviseModel, offerModel, tryFreshProvider } from '../../objects/model-offer.ts'
import { readEach, readOne, type Spec } from '../../objects/spec-options.ts'
import { listPages } from '../../output/paging.ts'
import { askNumbered } from '../../output/questions.ts'
import type { AskCall, NamedSpec, Prepared, SpecCall, SpecCommands } from '../resources/spec-commands.ts'

export const agentCommands: SpecCommands = {
  description: 'make an agent; without a name it asks for what is needed',
  ask: askForAgent,
  options: [
    {
      flags: '--provider <name>',
      description: 'provider to ask (default: the one of the namespace)',
      path: 'providerRef',
      names: 'provider',
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--runtime <type>',
      description: `agent program that does the work: ${runtimeTypes.map(describeRuntime).join(', ')}`,
      path: 'runtime.type',
      choices: runtimeTypes,
    },
    {
      flags: '--program <name>',
      description: 'the same, with a program that the service was given by --agent-program',
      path: 'runtime.runtimeRef',
      read: readOne((name) => ({ name })),
    },
    { flags: '--model <name>', description: 'model of the provider', path: 'model.name' },
    {
      flags: '--secret <name>',
      description: 'Secret whose entries its tasks get; of a runtime: with the key of its vendor',
      path: 'secretRef',
      names: 'secret',
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--system <text>',
      description: 'system prompt',
      path: 'systemPrompt',
      read: readOne((inline) => ({ inline })),
    },
    {
      flags: '--tool <name>',
      description: 'tool it may use',
      path: 'tools',
      isRepeated: true,
      read: readEach((name) => ({ name })),
    },
    {
      flags: '--skill <name>',
      description: 'skill it has',
      path: 'skills',
      isRepeated: true,
      read: readEach((name) => ({ name })),
    },
  ],
  finish: describeReadiness,
  extra: { options: [], make: nameModel, change: async (spec) => spec },
}

/** opencode is told its model at its start, so the provider's own is named as a person would have named it. */
async function nameModel(spec: Spec, call: SpecCall): Promise<Prepared> {
  const { runtime, model } = spec as Agent['spec']
  if (runtime?.type !== 'opencode' || model?.name !== undefined) return { spec }
  const provider = await findProvider(call, spec as Agent['spec'])
  if (provider === undefined || provider === 'of its secret') return { spec }
  const { name } = provider.metadata
  const asking = { ...call, name }
  const found = provider.spec.defaultModel ?? (await chooseModel(asking))
  return { spec: { ...spec, providerRef: { name }, model: { ...model, name: found } } }
}

async function chooseModel(asking: SpecCall): Promise<string> {
  const { models } = await tryFreshProvider(asking)
  const chosen = await offerModel(asking, models)
  if (chosen !== undefined) return chosen
  throw new SvcError(
    'InvalidRequest',
    `opencode needs a model, and ${asking.name} has none: ${adviseModel(asking.name, models)}`,
  )
}

const readyMs = 10_000
const lookMs = 100

/** What the service says of a new agent once it has looked at what the agent names. */
async function describeReadiness(call: SpecCall): Promise<string> {
  const { name, client, options, context } = call
  const deadline = Date.now() + readyMs
  for (;;) {
    const { spec, status } = await client.call(getAgent, { params: { name }, query: namespaceQuery(options) })
    const messageOf = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted)?.message
    if (status?.ready === false) {
      return context.terminal.colors.red(`it is not ready: ${messageOf('Ready') ?? 'see its status'}`)
    }
    if (status?.ready === true || Date.now() > deadline) return describeReady(call, spec, messageOf('ModelNameWarning'))
    await pause(lookMs)
  }
}

async function describeReady(call: SpecCall, spec: Agent['spec'], warning: string | undefined): Promise<string> {
  const advice = (await adviseOnModel(call, spec)) ?? `try it: ${commandHint(`run --agent ${call.name} "say hello"`)}`
  return warning === undefined ? advice : `${warning}\n${advice}`
}

/** What to do where neither the agent nor its provider has a model: a person is asked, or each of its tasks would fail. */
async function adviseOnModel(call: SpecCall, spec: Agent['spec']): Promise<string | undefined> {
  if (spec.model?.name !== undefined) return undefined
  const provider = await findProvider(call, spec)
  if (provider === 'of its secret')
    return `it has no model, which the key in its secret needs: ${commandHint(`agent update ${call.name} --model MODEL`)}`
  if (provider === undefined || provider.spec.defaultModel !== undefined || provider.spec.type === 'demo')
    return undefined
  const asking = { ...call, name: provider.metadata.name }
  const { models } = await tryFreshProvider(asking)
  if ((await offerModel(asking, models)) !== undefined) return undefined
  return `neither it nor its provider ${asking.name} has a model; ${adviseModel(asking.name, models)}`
}

/** Undefined: of another namespace, or no one's. */
async function findProvider(
  { client, options }: SpecCall,
  spec: Agent['spec'],
): Promise<Provider | 'of its secret' | undefined> {
  const { providerRef, runtime, secretRef } = spec
  if (providerRef === undefined && runtime !== undefined && secretRef !== undefined) return 'of its secret'
  const { items } = await listPages<Provider>(client, listProviders, { query: namespaceQuery(options) })
  if (providerRef !== undefined)
    return providerRef.namespace === undefined
      ? items.find(({ metadata }) => metadata.name === providerRef.name)
      : undefined
  const found = chooseDefault(items)
  return found.outcome === 'chosen' ? found.provider : undefined
}

/** InvalidRequest, with what to type, where nobody can be asked or no answer is given. */
export async function askForAgent(call: AskCall): Promise<NamedSpec> {
  const { openPrompt, terminal } = call.context
  const refusal = new SvcError('InvalidRequest', `name the agent: ${commandHint('agent create NAME')}`)
  if (openPrompt === undefined) throw refusal
  const name = await askLine(openPrompt, 'its name? ')
  if (name === '') throw refusal
  const runtime = call.flags.runtime ?? (await askRuntime(call, openPrompt))
  const { items } = await listPages<Provider>(call.client, listProviders, { query: namespaceQuery(call.options) })
  if (call.flags.model !== undefined || call.flags.provider !== undefined || items.length === 0) {
    return { name, flags: { ...call.flags, ...(runtime && { runtime }) } }
  }
  terminal.note('who answers it?')
  const lines = items.map(({ metadata, spec }) => [metadata.name, spec.defaultModel ?? ''].join('  ').trimEnd())
  const names = items.map(({ metadata }) => metadata.name)
  const provider = items[(await askNumbered(names, { terminal, openPrompt, lines })) ?? -1]
  if (provider === undefined) throw new SvcError('InvalidRequest', 'no provider was chosen; nothing was made')
  const { defaultModel } = provider.spec
  const shown = defaultModel === undefined ? 'its model? ' : `its model? [${defaultModel}] `
  const model = (await askLine(openPrompt, shown)) || defaultModel
  const chosen = dropUndefined({ provider: provider.metadata.name, runtime, model })
  return { name, flags: { ...call.flags, ...chosen } }
}

/** Undefined: a model with the tools of the service. */
async function askRuntime({ context }: AskCall, openPrompt: OpenPrompt): Promise<RuntimeType | undefined> {
  const { terminal } = context
  terminal.note('what does its work?')
  const lines = ['a language model with the tools of the service', ...runtimeTypes.map((type) => runtimeNames[type])]
  const chosen = await askNumbered(['model', ...runtimeTypes], { terminal, openPrompt, lines })
  if (chosen === undefined) throw new SvcError('InvalidRequest', 'nothing was chosen; nothing was made')
  return runtimeTypes[chosen - 1]
}

async function askLine(openPrompt: OpenPrompt, question: string): Promise<string> {
  const prompt = openPrompt()
  const answer = await prompt.ask(question, []).finally(() => prompt.close())
  return typeof answer === 'string' ? '' : answer.line.trim()
}
