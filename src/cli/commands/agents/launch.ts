// launch and env: coding clients that ask this service.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { createToken, deleteToken } from '../../../contract/api/identity/tokens.ts'
import { getProvider } from '../../../contract/api/providers/providers.ts'
import { getReadiness } from '../../../contract/api/service/health.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import { findNearest } from '../../../lib/nearest.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { chooseModel } from '../../objects/model-choice.ts'
import { tryFreshProvider } from '../../objects/model-offer.ts'
import { printAnswer } from '../../output/answers.ts'
import {
  type ClientName,
  type ClientSettings,
  type ClientTarget,
  clientNames,
  clients,
  formatForShell,
} from './client-settings.ts'

type Flags = { provider?: string; model?: string }
type Invocation = { context: CliContext; options: GlobalOptions; client: Client }
/** `id`: of one that was made. */
type Token = { text: string; id?: string }

function addModelOptions(command: Command): Command {
  return command
    .addOption(new Option('--provider <name>', 'provider to ask (default: the one of the namespace)'))
    .addOption(new Option('--model <name>', 'model of the provider'))
}

export function addLaunchCommand(program: Command, context: CliContext): void {
  const launch = program
    .command('launch')
    .description('start a coding client that asks this service; what stands after -- is for the client')
  for (const name of clientNames) {
    const { command, install } = clients[name]
    addModelOptions(launch.command(`${name} [args...]`))
      .description(`start ${command} (${install})`)
      .action((args: string[], flags: Flags, command: Command) => start(name, args, { flags, command, context }))
  }
}

export function addEnvCommand(program: Command, context: CliContext): void {
  const env = program.command('env').description('print the settings of a coding client, for `eval` in a shell')
  for (const name of clientNames)
    addModelOptions(env.command(name))
      .description(`what ${clients[name].command} must be told to ask this service`)
      .action((flags: Flags, command: Command) => print(name, { flags, command, context }))
}

type Typed = { flags: Flags; command: Command; context: CliContext }

async function open({ command, context }: Typed): Promise<Invocation> {
  const options = readGlobalOptions(command)
  return { context, options, client: await context.connect(options) }
}

async function start(name: ClientName, args: string[], typed: Typed): Promise<void> {
  const { command, install, removed } = clients[name]
  const program = await typed.context.findProgram(command)
  if (program === undefined) {
    throw new SvcError('InvalidRequest', `${command} is not installed here; install it: ${install}`)
  }
  const invocation = await open(typed)
  const target = await chooseTarget(typed.flags, invocation)
  const token = await makeToken(`launch-${name}`, invocation)
  try {
    const settings = await describe(name, { ...target, token: token.text }, invocation)
    const code = await keepingAwake(invocation.client, () =>
      typed.context.runProgram([program, ...settings.args, ...args], { set: settings.env, removed }),
    )
    if (code !== exitCodes.ok) throw new ExitSignal(code)
  } finally {
    await dropToken(token, invocation)
  }
}

async function print(name: ClientName, typed: Typed): Promise<void> {
  const invocation = await open(typed)
  const { context, options } = invocation
  const target = await chooseTarget(typed.flags, invocation)
  const token = await findLastingToken(`env-${name}`, invocation)
  const settings = await describe(name, { ...target, token }, invocation)
  await printAnswer(context, options, settings, () => formatForShell(name, settings))
}

async function describe(name: ClientName, target: ClientTarget, invocation: Invocation): Promise<ClientSettings> {
  const { file, describe } = clients[name]
  const { context, options } = invocation
  return describe(target, file === undefined ? '' : await context.keepFile(options, file.name, file.text))
}

const maxOthers = 100

/** InvalidRequest, before anything starts, for a provider or a model that there is not. */
async function chooseTarget(flags: Flags, invocation: Invocation): Promise<Omit<ClientTarget, 'token'>> {
  const { client, options, context } = invocation
  const chosen = await chooseModel(
    client,
    { ...(await splitModel(flags, invocation)), isReal: true },
    { options, context },
  )
  const { provider = '' } = chosen
  const { spec } = await client.call(getProvider, { params: { name: provider }, query: namespaceQuery(options) })
  const model = chosen.model ?? spec.defaultModel ?? ''
  const { ok, models, message } = await tryFreshProvider({ client, options, context, name: provider })
  if (!ok) context.terminal.note(context.terminal.colors.red(`provider ${provider} does not answer: ${message}`))
  if (models.length > 0 && model !== spec.defaultModel && !models.includes(model)) {
    const nearest = findNearest(model, models)
    const list = `\`${commandHint(`provider models ${provider}`)}\` shows what there is`
    const advice = nearest === undefined ? list : `did you mean ${nearest}?`
    throw new SvcError('InvalidRequest', `provider ${provider} has no model "${model}"; ${advice}`)
  }
  const others = models.filter((one) => one !== model).slice(0, maxOthers)
  const nameOf = (one: string) => `${provider}/${one}`
  return { url: client.url, model: nameOf(model), others: others.map(nameOf) }
}

/** `main/large` names its provider as well, as everywhere. */
async function splitModel({ provider, model }: Flags, { client, options }: Invocation): Promise<Flags> {
  const at = model?.indexOf('/') ?? -1
  if (provider !== undefined || model === undefined || at < 1)
    return { ...(provider && { provider }), ...(model && { model }) }
  const [name, rest] = [model.slice(0, at), model.slice(at + 1)]
  try {
    await client.call(getProvider, { params: { name }, query: namespaceQuery(options) })
    return { provider: name, model: rest }
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return { model }
    throw error
  }
}

/** Longer than anybody works without a break. */
const tokenLife = '30d'

/** One of its own, which may only work, and that ends with the client; the person's where none can be made. */
async function makeToken(name: string, invocation: Invocation): Promise<Token> {
  const { client, options } = invocation
  const body = { name, namespace: options.namespace, role: 'runner' as const, expires: tokenLife, serverTools: false }
  try {
    const { id, token } = await client.call(createToken, { body })
    return { text: token, id }
  } catch (error) {
    if (!isSvcError(error, 'Forbidden') && !isSvcError(error, 'NotFound') && !isSvcError(error, 'NotConfigured'))
      throw error
    return { text: await findOwnToken(invocation) }
  }
}

/** It ends by itself where the service is not reached any more. */
async function dropToken({ id }: Token, { client }: Invocation): Promise<void> {
  if (id !== undefined) await client.call(deleteToken, { params: { id } }).catch(() => undefined)
}

/** A person's own token is for their own namespace; for another one a token is bound to it. */
async function findLastingToken(name: string, invocation: Invocation): Promise<string> {
  const { namespace } = invocation.options
  if (namespace === undefined) return await findOwnToken(invocation)
  const { text, id } = await makeToken(name, invocation)
  if (id !== undefined) {
    const revoke = `\`${commandHint(`token revoke ${id}`)}\``
    invocation.context.terminal.note(
      `a token of namespace ${namespace} was made, which ends after ${tokenLife}; ${revoke} ends it now`,
    )
  }
  return text
}

async function findOwnToken({ context, options }: Invocation): Promise<string> {
  const token = await context.findToken(options)
  if (token !== undefined) return token
  throw new SvcError('Unavailable', `no service runs here; \`${commandHint('up')}\` starts one`)
}

const awakeMs = 60_000

/** A service in the background stops when nobody asks it for a while; a person who thinks is no reason. */
async function keepingAwake<T>(client: Client, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void client.call(getReadiness).catch(() => undefined), awakeMs)
  timer.unref()
  return await work().finally(() => clearInterval(timer))
}
