// apply, get and delete: the habit of kubectl, over files and kinds.
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { printAnswer } from '../answers.ts'
import { type CatalogEntry, findEntry } from '../catalog.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { ExitSignal, exitCodeOf, exitCodes, listProblems } from '../failure.ts'
import { readGlobalOptions } from '../global-options.ts'
import { type Manifest, readManifests } from '../manifests.ts'
import { listEntries, removeEntry, showEntry } from './catalog.ts'

type Invocation = { command: Command; context: CliContext }

export function addApplyCommand(program: Command, context: CliContext): void {
  program
    .command('apply')
    .description('create or update what a YAML or JSON file describes')
    .requiredOption('-f, --file <path...>', 'file or folder to read, `-` for standard input')
    .action((given: { file: string[] }, command: Command) => applyFiles(given.file, { command, context }))
}

export function addGetCommand(program: Command, context: CliContext): void {
  program
    .command('get <kind> [names...]')
    .description('list a kind, or show some of it: get agents, get agent NAME, get agent/NAME')
    .option('-l, --selector <labels>', 'only those with these labels')
    .action(async (kind: string, names: string[], given: { selector?: string }, command: Command) => {
      const { entry, targets } = readTargets(kind, names)
      if (targets.length === 0) return listEntries(entry, given, { command, context })
      for (const name of targets) await showEntry(entry, name, { command, context })
    })
}

type DeleteOptions = { file?: string[]; ignoreNotFound?: boolean }

export function addDeleteCommand(program: Command, context: CliContext): void {
  program
    .command('delete [kind] [names...]')
    .description('remove some of a kind, or what a file describes')
    .option('-f, --file <path...>', 'file or folder to read, `-` for standard input')
    .option('--ignore-not-found', 'what is not there is no error')
    .action((kind: string | undefined, names: string[], given: DeleteOptions, command: Command) => {
      if (given.file && kind === undefined) return removeFiles(given.file, given, { command, context })
      if (!given.file && kind !== undefined) return removeNamed(kind, names, { command, context })
      throw new SvcError('InvalidRequest', 'say what to delete: `svc delete KIND NAME` or `svc delete -f FILE`')
    })
}

/** `agent x y` and `agent/x` alike. */
function readTargets(kind: string, names: string[]): { entry: CatalogEntry; targets: string[] } {
  const [word = '', name] = kind.split('/')
  return { entry: findEntry(word), targets: name === undefined ? names : [name, ...names] }
}

async function removeNamed(kind: string, names: string[], invocation: Invocation): Promise<void> {
  const { entry, targets } = readTargets(kind, names)
  if (targets.length === 0) throw new SvcError('InvalidRequest', `say which: \`svc delete ${kind} NAME\``)
  for (const name of targets) await removeEntry(entry, name, invocation)
}

type Batch = { context: CliContext; options: GlobalOptions }
type Work = (client: Client, manifest: Manifest) => Promise<string>

async function applyFiles(files: string[], invocation: Invocation): Promise<void> {
  const options = readGlobalOptions(invocation.command)
  const manifests = await readManifests(files, invocation.context, options)
  await doEach(manifests, applyOne, { ...invocation, options })
}

async function removeFiles(files: string[], given: DeleteOptions, invocation: Invocation): Promise<void> {
  const options = readGlobalOptions(invocation.command)
  const manifests = await readManifests(files, invocation.context, options)
  const removeOne: Work = (client, manifest) => removeManifest(client, manifest, given.ignoreNotFound ?? false)
  await doEach(manifests.toReversed(), removeOne, { ...invocation, options })
}

/** One after the other; a failure is told and does not keep the others from being done. */
async function doEach(manifests: Manifest[], work: Work, { context, options }: Batch): Promise<void> {
  const client = await context.connect(options)
  const outcomes: { kind: string; name: string; outcome: string }[] = []
  let code: number = exitCodes.ok
  for (const manifest of manifests) {
    try {
      const outcome = await work(client, manifest)
      outcomes.push({ kind: manifest.entry.kind, name: manifest.name, outcome })
      if (options.output === 'table') context.terminal.print(`${manifest.label} ${outcome}`)
    } catch (error) {
      code = tellFailure(error, manifest, context)
    }
  }
  if (options.output !== 'table') await printAnswer(context, options, outcomes, () => '')
  if (code !== exitCodes.ok) throw new ExitSignal(code)
}

/** Gives the exit code; throws what would happen to every other manifest as well. */
function tellFailure(error: unknown, { label, place }: Manifest, { terminal }: CliContext): number {
  if (!isSvcError(error) || error.reason === 'Unavailable' || error.reason === 'Unauthenticated') throw error
  terminal.note(`${terminal.colors.red('error:')} ${label} (${place}): ${error.message}`)
  for (const problem of listProblems(error)) terminal.note(`  ${problem}`)
  return exitCodeOf(error)
}

function locate({ entry, name, namespace }: Manifest) {
  return { params: { [entry.parameter]: name }, query: namespace === undefined ? {} : { namespace } }
}

async function applyOne(client: Client, manifest: Manifest): Promise<string> {
  const { entry, document } = manifest
  const { params, query } = locate(manifest)
  const body = { ...document, metadata: { ...document.metadata, ...query } }
  const before = await readVersion(client, manifest)
  if (before === undefined) {
    await client.call(entry.create, { query, body })
    return 'created'
  }
  const after = (await client.call(entry.update, { params, query, body })) as unknown as Stored
  return after.metadata.resourceVersion === before ? 'unchanged' : 'configured'
}

type Stored = { metadata: { resourceVersion?: string } }

/** Undefined when there is no such object. */
async function readVersion(client: Client, manifest: Manifest): Promise<string | undefined> {
  try {
    const stored = (await client.call(manifest.entry.get, locate(manifest))) as unknown as Stored
    return stored.metadata.resourceVersion ?? ''
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}

async function removeManifest(client: Client, manifest: Manifest, ignoreMissing: boolean): Promise<string> {
  try {
    await client.call(manifest.entry.remove, locate(manifest))
    return 'deleted'
  } catch (error) {
    if (ignoreMissing && isSvcError(error, 'NotFound')) return 'was not there'
    throw error
  }
}
