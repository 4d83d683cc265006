// apply, get and delete: the habit of kubectl, over files and kinds.
import type { Command } from 'commander'
import { parseAllDocuments } from 'yaml'
import type { Client } from '../../client/client.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { type CatalogEntry, findEntry } from '../catalog.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { namespaceOf, readGlobalOptions } from '../global-options.ts'
import { listEntries, removeEntry, showEntry } from './catalog.ts'

type Manifest = { kind: string; metadata: { name: string; namespace?: string }; spec: unknown }
type Invocation = { command: Command; context: CliContext }

export function addApplyCommands(program: Command, context: CliContext): void {
  program
    .command('apply')
    .description('create or update what a YAML or JSON file describes')
    .requiredOption('-f, --file <path...>', 'file to read, `-` for standard input')
    .action((given: { file: string[] }, command: Command) => applyFiles(given.file, { command, context }))
  program
    .command('get <kind> [name]')
    .description('list a kind, or show one of it')
    .action((kind: string, name: string | undefined, _given: unknown, command: Command) => {
      const entry = findEntry(kind)
      return name === undefined ? listEntries(entry, command, context) : showEntry(entry, name, { command, context })
    })
  program
    .command('delete [kind] [name]')
    .description('remove one of a kind, or what a file describes')
    .option('-f, --file <path...>', 'file to read, `-` for standard input')
    .action((kind: string | undefined, name: string | undefined, given: { file?: string[] }, command: Command) =>
      removeNamed(given.file ?? [], [kind, name], { command, context }),
    )
}

async function applyFiles(files: string[], { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const manifests = await readManifests(files, context)
  const client = await context.connect(options)
  for (const manifest of manifests) {
    const outcome = await applyOne(client, manifest, options)
    context.terminal.print(`${manifest.kind.toLowerCase()}/${manifest.metadata.name} ${outcome}`)
  }
}

async function applyOne(client: Client, manifest: Manifest, options: GlobalOptions): Promise<string> {
  const entry = findEntry(manifest.kind)
  const query = { ...namespaceOf(options), ...namespaceOfManifest(manifest) }
  const { spec } = manifest
  const metadata = { ...query, ...manifest.metadata }
  try {
    await client.call(entry.create, { body: { metadata, spec } })
    return 'created'
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    if (!entry.update) return 'exists already; a task is not changed, delete it or give another name'
  }
  await client.call(entry.update, { params: parameterOf(entry, manifest), query, body: { metadata, spec } })
  return 'configured'
}

async function removeNamed(
  files: string[],
  words: (string | undefined)[],
  { command, context }: Invocation,
): Promise<void> {
  const [kind, name] = words
  if (kind !== undefined && name !== undefined) return removeEntry(findEntry(kind), name, { command, context })
  if (files.length === 0)
    throw new SvcError('InvalidRequest', 'say what to delete: `svc delete KIND NAME` or `svc delete -f FILE`')
  const options = readGlobalOptions(command)
  const manifests = await readManifests(files, context)
  const client = await context.connect(options)
  for (const manifest of manifests.toReversed()) {
    const entry = findEntry(manifest.kind)
    const query = { ...namespaceOf(options), ...namespaceOfManifest(manifest) }
    await client.call(entry.remove, { params: parameterOf(entry, manifest), query })
    context.terminal.print(`${manifest.kind.toLowerCase()}/${manifest.metadata.name} deleted`)
  }
}

async function readManifests(files: string[], context: CliContext): Promise<Manifest[]> {
  const all: Manifest[] = []
  for (const file of files) all.push(...parseManifests(await context.readText(file), file))
  return all
}

function parseManifests(text: string, file: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document, index) => {
    const [problem] = document.errors
    if (problem) throw new SvcError('InvalidRequest', `${file}: ${problem.message}`)
    const value = document.toJS() as Partial<Manifest> | null
    if (value === null) return []
    if (typeof value.kind === 'string' && typeof value.metadata?.name === 'string') return [value as Manifest]
    throw new SvcError('InvalidRequest', `${file}: document ${index + 1} needs \`kind\` and \`metadata.name\``)
  })
}

function namespaceOfManifest(manifest: Manifest): { namespace?: string } {
  return manifest.metadata.namespace === undefined ? {} : { namespace: manifest.metadata.namespace }
}

function parameterOf(entry: CatalogEntry, manifest: Manifest): Record<string, string> {
  return { [entry.parameter]: manifest.metadata.name }
}
