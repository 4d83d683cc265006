// configmap: texts that tasks, agents and skills use.
import type { Command } from 'commander'
import { createConfigMap, getConfigMap, updateConfigMap } from '../../../contract/api/resources/configmaps.ts'
import { SvcError } from '../../../errors.ts'
import { openCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { gather } from '../../global-options.ts'

type EntryOptions = { fromLiteral?: string[]; fromFile?: string[]; remove?: string[] }

export function addConfigMapChanges(group: Command, context: CliContext): void {
  addEntryOptions(
    group.command('create <name>').description('store texts, from the command line or from files'),
  ).action((name: string, _flags: unknown, command: Command) => create(name, command, context))
  addEntryOptions(group.command('update <name>').description('change or add entries; the others stay'))
    .option('--remove <key>', 'remove an entry; may be repeated', gather)
    .action((name: string, _flags: unknown, command: Command) => update(name, command, context))
}

function addEntryOptions(command: Command): Command {
  return command
    .option('--from-literal <key=text>', 'an entry and its text; may be repeated', gather)
    .option(
      '--from-file <[key=]path>',
      'the same from a file, `-` for standard input; without a key its name is the key; may be repeated',
      gather,
    )
}

async function create(name: string, command: Command, context: CliContext): Promise<void> {
  const data = await collectEntries(command.opts<EntryOptions>(), context)
  requireEntries(data)
  const { client, query } = await openCall(command, context)
  await client.call(createConfigMap, { body: { name, ...query, data } })
  context.terminal.note(`configmap ${name} created with ${Object.keys(data).join(', ')}`)
}

async function update(name: string, command: Command, context: CliContext): Promise<void> {
  const flags = command.opts<EntryOptions>()
  const changes = await collectEntries(flags, context)
  const removed = flags.remove ?? []
  requireEntries({ ...changes, ...Object.fromEntries(removed.map((key) => [key, ''])) })
  const { client, query } = await openCall(command, context)
  const target = { params: { name }, query }
  const { data: before, metadata } = await client.call(getConfigMap, target)
  const absent = removed.find((key) => before[key] === undefined)
  if (absent !== undefined) throw new SvcError('NotFound', `configmap ${name} has no entry ${absent}`)
  const remaining = Object.entries(before).filter(([key]) => !removed.includes(key))
  const data = { ...Object.fromEntries(remaining), ...changes }
  const { resourceVersion } = metadata
  await client.call(updateConfigMap, { ...target, body: { metadata: { resourceVersion }, data } })
  context.terminal.note(`configmap ${name} has ${Object.keys(data).join(', ') || 'no entries'}`)
}

function requireEntries(data: Record<string, string>): void {
  if (Object.keys(data).length > 0) return
  throw new SvcError('InvalidRequest', 'say which entries: --from-literal colour=blue or --from-file prompt.md')
}

async function collectEntries({ fromLiteral = [], fromFile = [] }: EntryOptions, context: CliContext) {
  const entries: Record<string, string> = {}
  for (const pair of fromLiteral) {
    const at = pair.indexOf('=')
    if (at <= 0) throw new SvcError('InvalidRequest', `\`${pair}\` must be KEY=TEXT, such as colour=blue`)
    entries[pair.slice(0, at)] = pair.slice(at + 1)
  }
  for (const source of fromFile) {
    const { key, path } = splitSource(source)
    const [file] = await context.readTexts(path)
    entries[key] = file?.text ?? ''
  }
  return entries
}

function splitSource(source: string): { key: string; path: string } {
  const at = source.indexOf('=')
  const key = at < 0 ? (source.split('/').at(-1) ?? '') : source.slice(0, at)
  const path = source.slice(at + 1)
  if (key !== '' && key !== '-' && path !== '') return { key, path }
  throw new SvcError('InvalidRequest', `\`${source}\` must be PATH or KEY=PATH, such as prompt.md or prompt=texts/a.md`)
}
