// apply, get and delete, as in kubectl, for files and kinds.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { ignoring, isSvcError, SvcError } from '../../../errors.ts'
import { openCall } from '../../action.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { doEachName, ExitSignal, exitCodes, reportOneOf } from '../../failure.ts'
import { type Manifest, readManifests } from '../../files/manifests.ts'
import { addAllNamespacesOption, addWatchOption, readGlobalOptions } from '../../global-options.ts'
import { listDifferences, pickOwn } from '../../objects/change-object.ts'
import { readTargets } from '../../objects/kinds.ts'
import { printAnswer } from '../../output/answers.ts'
import { showList } from '../../output/list-command.ts'
import { listPages } from '../../output/paging.ts'
import { type KindListFlags, listEverything, listOfKind, removeBy, showEntries } from './kind-commands.ts'

type Invocation = { command: Command; context: CliContext }

export function addApplyCommand(program: Command, context: CliContext): void {
  program
    .command('apply')
    .description('create or update what a YAML or JSON file describes')
    .requiredOption('-f, --file <path...>', 'file or folder to read, `-` for standard input')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--prune', 'with -l: remove objects with these labels that are in none of the files')
    .option('-l, --selector <labels>', 'labels for --prune, such as app=nightly')
    .addHelpText(
      'after',
      `
What only the service sets (status, uid, version, requestedBy) is left out, so that what \`${commandHint('get -o yaml')}\` gave can be changed
and applied any number of times. Exit code 0 means that everything is as the files have it.`,
    )
    .action((flags: ApplyOptions, command: Command) => applyFiles(flags, { command, context }))
}

export function addGetCommand(program: Command, context: CliContext): void {
  addWatchOption(addAllNamespacesOption(program.command('get <kind> [names...]')))
    .description('list a kind, or all, or show some of it: get agents, get all, get agent NAME, get agent/NAME')
    .option('-l, --selector <labels>', 'only those with these labels')
    .action((kind: string, names: string[], flags: KindListFlags, command: Command) => {
      const invocation = { command, context }
      return kind === 'all' && names.length === 0
        ? getEverything(flags, invocation)
        : getSome({ kind, names }, flags, invocation)
    })
}

async function getEverything(flags: KindListFlags, invocation: Invocation): Promise<void> {
  if (flags.watch === true) throw new SvcError('InvalidRequest', '--watch goes with one kind, not with all')
  await listEverything(flags, invocation)
}

async function getSome(
  of: { kind: string; names: string[] },
  flags: KindListFlags,
  invocation: Invocation,
): Promise<void> {
  const { entry, targets } = readTargets(of.kind, of.names)
  const { command, context } = invocation
  const options = readGlobalOptions(command)
  const listed = { options, context, flags, args: [] }
  if (targets.length === 0) return showList(listOfKind(entry), listed)
  if (options.allNamespaces === true) {
    throw new SvcError('InvalidRequest', 'a name is of one namespace: give --namespace instead of --all-namespaces')
  }
  if (flags.watch === true) return showList(listOfKind(entry), { ...listed, flags: { ...flags, names: targets } })
  await showEntries(entry, targets, await openCall(command, context))
}

type DeleteOptions = { file?: string[]; ignoreNotFound?: boolean }

export function addDeleteCommand(program: Command, context: CliContext): void {
  program
    .command('delete [kind] [names...]')
    .description('remove some of a kind, or what a file describes')
    .option('-f, --file <path...>', 'file or folder to read, `-` for standard input')
    .option('--ignore-not-found', 'succeed when it does not exist')
    .action((kind: string | undefined, names: string[], flags: DeleteOptions, command: Command) => {
      if (flags.file && kind === undefined) return removeFiles(flags.file, flags, { command, context })
      if (!flags.file && kind !== undefined) return removeNamed(kind, names, { command, context })
      throw new SvcError(
        'InvalidRequest',
        `say what to delete: \`${commandHint('delete KIND NAME')}\` or \`${commandHint('delete -f FILE')}\``,
      )
    })
}

async function removeNamed(kind: string, names: string[], invocation: Invocation): Promise<void> {
  const { entry, targets } = readTargets(kind, names)
  if (targets.length === 0) throw new SvcError('InvalidRequest', `say which: \`${commandHint(`delete ${kind} NAME`)}\``)
  const { terminal } = invocation.context
  const call = await openCall(invocation.command, invocation.context)
  const remove = removeBy(entry)
  await doEachName(targets, terminal, async (name) => terminal.note(await remove(call, name)))
}

type Batch = { context: CliContext; options: GlobalOptions }
type Done = { outcome: string; differences?: string[] }
type Work = (client: Client, manifest: Manifest) => Promise<Done>

async function applyFiles(flags: ApplyOptions, invocation: Invocation): Promise<void> {
  if (flags.prune && flags.selector === undefined) {
    throw new SvcError('InvalidRequest', '--prune needs -l: only what has these labels may be removed')
  }
  const options = readGlobalOptions(invocation.command)
  const manifests = await readManifests(flags.file, invocation.context, options)
  const applyEach: Work = (client, manifest) => applyOne(client, manifest, flags)
  await doEach(manifests, applyEach, { ...invocation, options })
  if (!flags.prune) return
  const outcomes = await prune(await invocation.context.connect(options), manifests, flags)
  for (const line of outcomes) invocation.context.terminal.note(line)
}

async function removeFiles(files: string[], flags: DeleteOptions, invocation: Invocation): Promise<void> {
  const options = readGlobalOptions(invocation.command)
  const manifests = await readManifests(files, invocation.context, options)
  const removeOne: Work = (client, manifest) => removeManifest(client, manifest, flags.ignoreNotFound ?? false)
  await doEach(manifests.toReversed(), removeOne, { ...invocation, options })
}

/** One after the other; reports a failure and continues with the others. */
async function doEach(manifests: Manifest[], work: Work, { context, options }: Batch): Promise<void> {
  const client = await context.connect(options)
  const outcomes: (Done & { kind: string; name: string })[] = []
  let code: number = exitCodes.ok
  for (const manifest of manifests) {
    try {
      const done = await work(client, manifest)
      outcomes.push({ kind: manifest.entry.kind, name: manifest.name, ...done })
      if (options.output === 'table') printDone(manifest, done, context)
    } catch (error) {
      code = reportOneOf(error, `${manifest.label} (${manifest.source})`, context.terminal)
    }
  }
  if (options.output !== 'table') await printAnswer(context, options, outcomes, () => '')
  if (code !== exitCodes.ok) throw new ExitSignal(code)
}

function printDone({ label }: Manifest, { outcome, differences = [] }: Done, { terminal }: CliContext): void {
  terminal.print(`${label} ${outcome}`)
  for (const line of differences) terminal.note(`  ${line}`)
}

function locate({ entry, name, namespace }: Manifest) {
  return { params: { [entry.parameter]: name }, query: namespace === undefined ? {} : { namespace } }
}

type ApplyOptions = { file: string[]; dryRun?: boolean; prune?: boolean; selector?: string }

/** The outcome, and the values that changed. */
async function applyOne(client: Client, manifest: Manifest, { dryRun = false }: ApplyOptions): Promise<Done> {
  const { entry, document } = manifest
  const { params, query } = locate(manifest)
  const own = pickOwn(document)
  const body = { ...own, metadata: { ...own.metadata, ...query } }
  const before = await readStored(client, manifest)
  if (before === undefined) {
    if (!dryRun) await client.call(entry.create, { query, body })
    return { outcome: dryRun ? 'would be created' : 'created' }
  }
  const differences = listDifferences(entry.kind, before, document)
  if (differences.length === 0) return { outcome: 'unchanged' }
  if (dryRun) return { outcome: 'would be configured', differences }
  const after = (await client.call(entry.update, { params, query, body })) as unknown as Stored
  requireSame(listDifferences(entry.kind, after, document))
  return { outcome: 'configured', differences }
}

/** Scripts rely on exit code 0. */
function requireSame(left: string[]): void {
  if (left.length === 0) return
  throw new SvcError('Conflict', `the service accepted it, but it differs from the file: ${left.join('; ')}`)
}

type Stored = Record<string, unknown>

/** Undefined when the object does not exist. */
async function readStored(client: Client, manifest: Manifest): Promise<Stored | undefined> {
  const found: unknown = await ignoring(client.call(manifest.entry.get, locate(manifest)), 'NotFound')
  return found as Stored | undefined
}

type PruneScope = Pick<Manifest, 'entry' | 'namespace'>

/** Removes objects with the labels that are in none of the files, within the kinds and namespaces of the files. */
async function prune(client: Client, manifests: Manifest[], flags: ApplyOptions): Promise<string[]> {
  const scopes = new Map(
    manifests.map((one): [string, PruneScope] => [`${one.entry.kind}/${one.namespace ?? ''}`, one]),
  )
  const outcomes: string[] = []
  for (const scope of scopes.values()) {
    const declared = manifests.filter((one) => one.entry === scope.entry && one.namespace === scope.namespace)
    outcomes.push(...(await pruneScope(client, scope, declared, flags)))
  }
  return outcomes
}

async function pruneScope(
  client: Client,
  { entry, namespace }: PruneScope,
  declared: Manifest[],
  { selector, dryRun }: ApplyOptions,
): Promise<string[]> {
  const query = namespace === undefined ? {} : { namespace }
  const labelled = { query: { labelSelector: selector, ...query } }
  const { items } = await listPages<{ metadata: { name: string } }>(client, entry.list, labelled)
  const names = items.map(({ metadata }) => metadata.name)
  const surplus = names.filter((name) => declared.every((one) => one.name !== name))
  if (!dryRun) {
    for (const name of surplus) await client.call(entry.remove, { params: { [entry.parameter]: name }, query })
  }
  return surplus.map((name) => `${entry.words[0]}/${name} ${dryRun ? 'would be deleted' : 'deleted'}`)
}

async function removeManifest(client: Client, manifest: Manifest, ignoreMissing: boolean): Promise<Done> {
  try {
    await client.call(manifest.entry.remove, locate(manifest))
    return { outcome: 'deleted' }
  } catch (error) {
    if (ignoreMissing && isSvcError(error, 'NotFound')) return { outcome: 'did not exist' }
    throw error
  }
}
