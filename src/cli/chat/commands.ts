// Lines of a conversation that start with a slash, and what they do: among others, which provider and model answer.
import { getUsage } from '../../contract/api/budgets/usage.ts'
import { listProviders } from '../../contract/api/providers/providers.ts'
import { listLlmoModels } from '../../contract/api/providers/proxies.ts'
import { listTasks } from '../../contract/api/tasks/tasks.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { describeVendor } from '../../contract/kinds/providers/vendor-names.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { findNearest } from '../../lib/nearest.ts'
import { formatItems } from '../output/answers.ts'
import { listNewest, listPages } from '../output/paging.ts'
import { taskColumns } from '../output/task-table.ts'
import { describeSpending, sumItems } from './spending.ts'
import { describeSession, findSession, readEntries, type Talk } from './talk.ts'

type Model = { provider: string; model: string }

export async function answerProvider(talk: Talk, name: string): Promise<undefined> {
  const { items } = await listPages<Provider>(talk.client, listProviders, { query: queryOf(talk) })
  if (name === '') return printLines(talk, [describeAnswering(talk), ...items.map(describeProvider)])
  const provider = items.find(({ metadata }) => metadata.name === name)
  if (provider === undefined) {
    return printLines(talk, [`there is no provider ${name}; there are:`, ...items.map(describeProvider)])
  }
  const { defaultModel } = provider.spec
  change(talk, { provider: name, model: undefined }, defaultModel)
  const hint = defaultModel === undefined ? ['it names no model of its own: /model NAME chooses one'] : []
  printLines(talk, [describeAnswering(talk), ...hint])
}

export async function answerModel(talk: Talk, name: string): Promise<undefined> {
  const models = await listModels(talk)
  const current = talk.answering.provider
  const own = models.filter(({ provider }) => provider === current)
  const shown = own.length > 0 ? own : models
  if (name === '') return printLines(talk, [describeAnswering(talk), ...shown.map(nameModel)])
  const found = findModel(models, own, name)
  if (found.length === 1) return choose(talk, found[0])
  if (found.length > 1) return printLines(talk, [`several providers have a model ${name}:`, ...found.map(nameModel)])
  // A vendor without a list may have the model anyway.
  if (current !== undefined && own.length <= 1) {
    choose(talk, { provider: current, model: name })
    return printLines(talk, [`${current} does not list its models: the next message will show whether it has ${name}`])
  }
  printLines(talk, [`there is no model ${name}; there are:`, ...shown.map(nameModel)])
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
  printLines(talk, [describeAnswering(talk)])
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
  return `  ${metadata.name} (${describeVendor(spec.type)}${model})${fault}`
}

function describeAnswering({ answering: { provider, model } }: Talk): string {
  if (provider === undefined && model === undefined) return 'the default provider of the service answers'
  const what = model === undefined ? 'the default model' : `model ${model}`
  return `${what} of ${provider === undefined ? 'the default provider' : `provider ${provider}`} answers`
}

function printLines({ context }: Talk, lines: string[]): undefined {
  context.terminal.note(lines.join('\n'))
}

type Command = {
  /** The argument, as help shows it. */
  argument?: string
  help: string
  /** True when the person leaves. */
  run(talk: Talk, argument: string): Promise<boolean | undefined> | boolean | undefined
}

const leave: Command = { help: 'leave (also Ctrl-D)', run: () => true }

const commands: Record<string, Command> = {
  help: { help: 'these commands', run: (talk) => printText(talk, describeCommands()) },
  model: { argument: '[NAME]', help: 'the model that answers, or another one from now on', run: answerModel },
  provider: { argument: '[NAME]', help: 'the provider that answers, or another one from now on', run: answerProvider },
  cost: { help: 'tokens and cost of the session so far', run: showCost },
  tasks: { help: 'the tasks that the session started', run: showTasks },
  history: { help: 'the conversation so far', run: showHistory },
  session: {
    help: 'the name of the session, and how to resume it',
    run: (talk) => printText(talk, describeSession(talk)),
  },
  new: { help: 'start a new session', run: beginAnew },
  quit: leave,
}

const aliases: Record<string, Command> = { exit: leave }

const keys = `A line that begins with // is sent as text. A pasted text is one message. Alt+Enter or Ctrl-J begins a line within a
message. What is typed while an answer comes is kept for the next question. Ctrl-C ends the turn that runs; pressed twice
it leaves. The arrow keys bring back what was typed.`

const width = 20

function describeCommands(): string {
  const lines = Object.entries(commands).map(([name, { argument = '', help }]) => {
    return `  ${`/${name} ${argument}`.padEnd(width)}${help}`
  })
  return [...lines, '', keys].join('\n')
}

/** A line with a word after a single slash: `/etc/hosts` is text, and so are `//` and messages of several lines. */
const shape = /^\/([^\s/]+)(?:[ \t]([^\r\n]*))?$/

/** The command in a line, with its argument; undefined for a message. */
export function parseCommand(line: string): { name: string; argument: string } | undefined {
  const [, name, argument = ''] = shape.exec(line) ?? []
  return name === undefined ? undefined : { name, argument: argument.trim() }
}

/** True when the person leaves. */
export async function runSlashCommand(
  talk: Talk,
  { name, argument }: { name: string; argument: string },
): Promise<boolean> {
  const known = { ...commands, ...aliases }
  const command = Object.hasOwn(known, name) ? known[name] : undefined
  if (command === undefined) {
    // The arrow key brings it back for correction.
    talk.history.push(`/${name} ${argument}`.trimEnd())
    printText(talk, describeUnknown(name))
    return false
  }
  return (await command.run(talk, argument)) === true
}

function describeUnknown(name: string): string {
  const nearest = findNearest(name, Object.keys(commands))
  const hint = nearest === undefined ? '/help shows what there is.' : `did you mean /${nearest}?`
  return `there is no command /${name}; ${hint} A line that begins with // is sent as text.`
}

function printText({ context }: Talk, text: string): undefined {
  context.terminal.note(text)
}

function beginAnew(talk: Talk): undefined {
  const { provider, model } = talk.request
  talk.sessionId = undefined
  talk.answering = { provider, model }
}

async function readSession({ client, request, sessionId }: Talk) {
  return findSession(client, { ...request, sessionId })
}

async function showHistory(talk: Talk): Promise<undefined> {
  const { bold } = talk.context.terminal.colors
  const entries = readEntries(await readSession(talk))
  if (entries.length === 0) return printText(talk, 'nothing was said yet')
  for (const { role, name, content } of entries) {
    printText(talk, `${bold(name === undefined ? role : `${role} ${name}`)}: ${content}`)
  }
}

async function showCost(talk: Talk): Promise<undefined> {
  const { client, sessionId, request } = talk
  const session = await findSession(client, { ...request, sessionId }, 1)
  if (session === undefined) return printText(talk, 'nothing was used yet')
  const { name, namespace } = session
  const { items } = await client.call(getUsage, { query: { namespace, groupBy: 'session', name } })
  printText(talk, items.length === 0 ? 'nothing was used yet' : describeSpending(sumItems(items)))
}

async function showTasks(talk: Talk): Promise<undefined> {
  const { client, sessionId, request, context } = talk
  const query = { namespace: request.namespace, labelSelector: `svc.ai/chat-session=${sessionId}` }
  const items = sessionId === undefined ? [] : (await listNewest<Task>(client, listTasks, { query })).items
  if (items.length === 0) return printText(talk, 'the session has started no tasks')
  printText(talk, formatItems(items, taskColumns(context.now()), { width: context.terminal.width }))
}
