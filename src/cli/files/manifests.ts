// Manifests: what `svc apply -f` and `svc delete -f` read, checked as far as possible without a service.
import type { NamedText } from '../../client/machine.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import { type Problem, SvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { findEntry, type KindEntry } from '../objects/kinds.ts'

export type Manifest = {
  entry: KindEntry
  name: string
  namespace: string | undefined
  /** The whole document, which the service judges. */
  document: Record<string, unknown> & { metadata: Record<string, unknown> }
  /** `agent/reviewer`. */
  label: string
  /** `agents.yaml, document 2`. */
  source: string
}

/** Every manifest of the files, in order. InvalidRequest with every problem, before anything is changed. */
export async function readManifests(files: string[], context: CliContext, options: GlobalOptions): Promise<Manifest[]> {
  const texts = (await Promise.all(files.map((file) => context.readTexts(file)))).flat()
  const documents = (await Promise.all(texts.map(parseDocuments))).flat()
  const problems: Problem[] = []
  const manifests: Manifest[] = []
  for (const { value, source } of documents) {
    const read = readManifest(value, source, options)
    if ('problem' in read) problems.push({ path: source, message: read.problem })
    else manifests.push(read)
  }
  const [first] = problems
  if (first) throw new SvcError('InvalidRequest', describeProblems(problems, first), { details: problems })
  if (manifests.length > 0) return manifests
  throw new SvcError('InvalidRequest', `there is no document in ${files.join(', ')}`)
}

function describeProblems(problems: Problem[], first: Problem): string {
  return problems.length === 1 ? `${first.path}: ${first.message}` : `${problems.length} documents are wrong`
}

type Sourced = { value: unknown; source: string }

async function parseDocuments({ name, text }: NamedText): Promise<Sourced[]> {
  const { parseAllDocuments } = await import('yaml')
  return parseAllDocuments(text).flatMap((document, index) => {
    const source = `${name === '-' ? 'standard input' : name}, document ${index + 1}`
    const [problem] = document.errors
    if (problem) throw new SvcError('InvalidRequest', `${source}: ${problem.message.trimEnd()}`)
    return flatten(document.toJS()).map((value) => ({ value, source }))
  })
}

/** A list, from `svc get -o yaml` or of kind List, stands for its items. */
function flatten(value: unknown): unknown[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(flatten)
  const { kind, items } = value as { kind?: unknown; items?: unknown }
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? items.flatMap(flatten) : [value]
}

function readManifest(value: unknown, source: string, options: GlobalOptions): Manifest | { problem: string } {
  if (typeof value !== 'object' || value === null) return { problem: 'is not a mapping with kind, metadata and spec' }
  const document = value as Manifest['document'] & { apiVersion?: unknown; kind?: unknown }
  if (typeof document.kind !== 'string') return { problem: 'needs `kind`' }
  const { name, namespace } = (document.metadata ?? {}) as { name?: unknown; namespace?: unknown }
  if (typeof name !== 'string') return { problem: 'needs `metadata.name`, as text' }
  if (options.namespace !== undefined && namespace !== undefined && namespace !== options.namespace)
    return { problem: `is for namespace ${namespace}, but --namespace says ${options.namespace}` }
  return locate({ document, kind: document.kind, name, source }, (namespace as string | undefined) ?? options.namespace)
}

type Named = { document: Manifest['document']; kind: string; name: string; source: string }

function locate(
  { document, kind, name, source }: Named,
  namespace: string | undefined,
): Manifest | { problem: string } {
  try {
    const entry = findEntry(kind)
    const known = entry.apiVersion ?? apiVersion
    const { apiVersion: version = known } = document
    if (version !== known) return { problem: `apiVersion \`${version}\` is not known; write ${known}` }
    return { entry, name, namespace, document, source, label: `${entry.words[0]}/${name}` }
  } catch (error) {
    if (error instanceof SvcError) return { problem: error.message }
    throw error
  }
}
