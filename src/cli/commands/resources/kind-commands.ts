// The commands that all kinds have: list, get, edit, delete, and `get all`.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import type { Provider } from '../../../contract/kinds/providers/provider.ts'
import { describeVendor } from '../../../contract/kinds/providers/vendor-names.ts'
import { chooseDefault } from '../../../rules/providers/model-choice.ts'
import { callForEach, callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { addAllNamespacesOption, addWatchOption, readGlobalOptions, scopeQuery } from '../../global-options.ts'
import { editObject } from '../../objects/change-object.ts'
import { type KindEntry, kindEntries } from '../../objects/kinds.ts'
import { describeScope, formatItems, printAnswer, shapeOf, viewOf } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { asList, type Column, formatAge, formatLabels, formatYaml, objectNameOf } from '../../output/output.ts'
import { listNewest } from '../../output/paging.ts'
import { taskColumns } from '../../output/task-table.ts'
import { agentCommands } from '../agents/agent.ts'
import { addAgentVersions } from '../agents/versions.ts'
import { addMonitorRecords } from '../monitors/monitor.ts'
import { monitorCommands } from '../monitors/monitor-spec.ts'
import {
  addProviderDefault,
  addProviderModels,
  addProviderPrices,
  addProviderTest,
  providerCommands,
} from '../providers/provider.ts'
import { addSkillFolders } from '../tools/skill.ts'
import { skillCommands, toolCommands } from '../tools/tool.ts'
import { addConfigMapChanges } from './configmap.ts'
import { addSpecCommands, type SpecCommands } from './spec-commands.ts'

/** What lists of all kinds have in common; built-in tools and skill summaries carry no metadata. */
export type ListedItem = {
  name?: string
  namespace?: string
  description?: string
  phase?: string
  builtin?: boolean
  available?: boolean
  /** Of summaries, which carry no metadata. */
  createdAt?: string
  /** Of a config map. */
  keys?: string[]
  reason?: string
  metadata?: { name: string; namespace?: string; creationTimestamp?: string; labels?: Record<string, string> }
  spec?: {
    type?: string
    description?: string
    defaultModel?: string
    model?: { name?: string }
    providerRef?: { name: string }
    repoURL?: string
    runtime?: { type?: string; runtimeRef?: { name: string } }
  }
  status?: {
    ready?: boolean
    available?: boolean
    phase?: string
    message?: string
    lastError?: string
    conditions?: { type: string; status: string; message?: string }[]
  }
}

/** What can be said of a kind's objects in options. */
const described: Record<string, SpecCommands> = {
  agent: agentCommands,
  provider: providerCommands,
  tool: toolCommands,
  skill: skillCommands,
  monitor: monitorCommands,
}

/** The group of commands of one kind, such as `svc agent`. */
export function addKindCommands(word: string): (program: Command, context: CliContext) => void {
  return (program, context) => {
    const entry = kindEntries.find((candidate) => candidate.words[0] === word)
    if (!entry) throw new TypeError(`no kind ${word}`)
    const group = program.command(word).description(entry.description)
    addReadCommands(group, entry, context)
    const kind = described[word]
    if (kind) {
      addSpecCommands(group, { entry, kind, context })
      group.addHelpText('after', `\nAll fields: ${commandHint('apply -f FILE')}, with kind: ${entry.kind}`)
    } else addConfigMapChanges(group, context)
    if (word === 'agent') addAgentVersions(group, context)
    if (word === 'skill') addSkillFolders(group, context)
    if (word === 'monitor') addMonitorRecords(group, context)
    if (word !== 'provider') return
    addProviderTest(group, context)
    addProviderModels(group, context)
    addProviderPrices(group, context)
    addProviderDefault(group, context)
  }
}

function addReadCommands(group: Command, entry: KindEntry, context: CliContext): void {
  const [word] = entry.words
  const list = addWatchOption(addAllNamespacesOption(group.command('list')))
    .alias('ls')
    .description(`list ${entry.words[1]}, newest first`)
    .option('-l, --selector <labels>', 'only those with these labels')
  addList(list, context, listOfKind(entry))
  const get = group
    .command('get <names...>')
    .description(`show one ${word}, or several, as YAML unless -o json`)
    .action(callService(context, (call, names: string[]) => showEntries(entry, names, call)))
  // Of skills it is another command.
  if (entry.kind !== 'Skill') get.alias('show')
  group
    .command('edit <name>')
    .description(`change one ${word} in $EDITOR`)
    .action(callService(context, (call, name: string) => editObject(call.client, entry, name, call)))
  group
    .command('delete <names...>')
    .alias('rm')
    .description(`remove one ${word}, or several`)
    .action(callForEach(context, removeBy(entry)))
}

/** How lists of the kind look. */
export function columnsOf(entry: KindEntry, now: Date, items: readonly ListedItem[] = []): Column<ListedItem>[] {
  if (entry.kind === 'Task') return taskColumns(now) as unknown as Column<ListedItem>[]
  const defaults = entry.kind === 'Provider' ? findDefaults(items) : new Set()
  return columns(now, (item) => defaults.has(item)).filter(
    ({ title }) => title !== 'KEYS' || entry.kind === 'ConfigMap',
  )
}

/** The providers that answer in their namespaces where none is named. */
function findDefaults(items: readonly ListedItem[]): Set<unknown> {
  const byNamespace = Map.groupBy(items as unknown as Provider[], ({ metadata }) => metadata.namespace)
  const found = [...byNamespace.values()].map((providers) => chooseDefault(providers))
  return new Set(found.flatMap((one) => (one.outcome === 'chosen' ? [one.provider] : [])))
}

const columns = (now: Date, isDefault: (item: ListedItem) => boolean): Column<ListedItem>[] => [
  { title: 'NAMESPACE', wide: true, value: (item) => item.metadata?.namespace ?? item.namespace },
  { title: 'NAME', value: (item) => item.metadata?.name ?? item.name },
  { title: 'DEFAULT', value: (item) => (isDefault(item) ? 'default' : undefined) },
  {
    title: 'TYPE',
    value: (item) => (item.spec?.type === undefined ? otherType(item) : describeVendor(item.spec.type)),
  },
  { title: 'MODEL', value: (item) => item.spec?.defaultModel ?? item.spec?.model?.name },
  {
    title: 'READY',
    value: (item) => item.status?.ready ?? item.status?.available ?? item.available ?? item.status?.phase ?? item.phase,
  },
  { title: 'REPOSITORY', value: (item) => item.spec?.repoURL },
  { title: 'PROVIDER', wide: true, value: (item) => item.spec?.providerRef?.name },
  { title: 'LABELS', wide: true, value: (item) => formatLabels(item.metadata?.labels) },
  { title: 'KEYS', value: (item) => item.keys?.join(',') },
  { title: 'AGE', value: (item) => formatAge(item.metadata?.creationTimestamp ?? item.createdAt, now) },
  { title: 'DESCRIPTION', value: describeItem },
]

const otherType = ({ builtin, spec }: ListedItem) =>
  builtin ? 'built-in' : (spec?.runtime?.type ?? spec?.runtime?.runtimeRef?.name)

/** Why it does not work where it does not, else what it is. */
function describeItem(item: ListedItem): string | undefined {
  const { status } = item
  const isUnready = status?.ready === false || status?.available === false
  const unready = isUnready ? status.conditions?.find(({ type }) => type === 'Ready')?.message : undefined
  return item.reason ?? status?.message ?? unready ?? status?.lastError ?? item.spec?.description ?? item.description
}

export type KindListFlags = { selector?: string; watch?: boolean }

/** The list of one kind. */
export function listOfKind(entry: KindEntry): ListCommand<ListedItem, KindListFlags> {
  const hasViews = 'view' in (entry.list.query?.shape ?? {})
  return {
    route: entry.list,
    pages: 'newest',
    kind: entry.kind,
    filters: ({ selector }, { options }) => ({
      labelSelector: selector,
      ...(hasViews && { view: viewOf(options) }),
    }),
    columns: (now, _flags, items) => columnsOf(entry, now, items),
    empty: (scope) => `no ${entry.words[1]}${scope}; ${entry.hint()}`,
  }
}

/** One object as it is; several as one List in JSON, and as documents in YAML. */
export async function showEntries(entry: KindEntry, names: string[], call: ServiceCall): Promise<void> {
  const { client, options, context, query } = call
  const values: unknown[] = []
  for (const name of names) values.push(await client.call(entry.get, { params: { [entry.parameter]: name }, query }))
  if (options.output === 'name')
    return context.terminal.print(values.map((one) => objectNameOf(one, entry.kind)).join('\n'))
  const list = values.length === 1 ? values[0] : asList(values)
  const isText = options.output === 'table' || options.output === 'yaml'
  if (!isText) return printAnswer(context, options, list, () => '')
  context.terminal.print((await Promise.all(values.map(formatYaml))).join('\n---\n'))
  if (!entry.note || options.output !== 'table') return
  for (const [index, name] of names.entries()) context.terminal.note(entry.note(values[index], name))
}

export function removeBy(entry: KindEntry) {
  return async ({ client, query }: ServiceCall, name: string): Promise<string> => {
    await client.call(entry.remove, { params: { [entry.parameter]: name }, query })
    return `${entry.words[0]} ${name} deleted`
  }
}

type Invocation = { command: Command; context: CliContext }

/** Without built-in tools, which nobody created. */
export async function listEverything(flags: { selector?: string }, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { terminal } = context
  const query = { ...scopeQuery(options), labelSelector: flags.selector }
  const found: { entry: KindEntry; items: ListedItem[] }[] = []
  for (const entry of kindEntries) {
    const { items } = await listNewest<ListedItem>(client, entry.list, { query })
    const made = items.filter((item) => !item.builtin)
    if (made.length > 0) found.push({ entry, items: made })
  }
  const all = found.flatMap(({ entry, items }) => items.map((item) => ({ kind: entry.kind, ...item })))
  const isRead = options.output === 'table' || options.output === 'name'
  if (isRead && all.length === 0)
    return terminal.note(`nothing${describeScope(options)}; \`${commandHint('run "say hello"')}\` makes a task`)
  const shape = shapeOf(options, terminal.width)
  const tables = () => found.map(({ entry, items }) => formatItems(items, namedColumns(entry, items, context), shape))
  await printAnswer(context, options, all, () => tables().join('\n\n'))
}

/** Names in the form that `svc get KIND/NAME` accepts. */
function namedColumns(entry: KindEntry, items: ListedItem[], context: CliContext): Column<ListedItem>[] {
  return columnsOf(entry, context.now(), items).map((column) =>
    column.title === 'NAME' ? { ...column, value: (item) => objectNameOf(item, entry.kind) } : column,
  )
}
