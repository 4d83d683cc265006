// Changes an object, by options or in an editor, whoever else writes it meanwhile; which fields are those of people.
import type { Client } from '../../client/client.ts'
import { isKind, kinds } from '../../contract/kinds/index.ts'
import { reservedPrefix } from '../../contract/kinds/resources/metadata.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { CliCall } from '../context.ts'
import { namespaceQuery } from '../global-options.ts'
import { formatYaml } from '../output/output.ts'
import { findEntry, type KindEntry } from './kinds.ts'
import type { Spec } from './spec-options.ts'

const tries = 3

type ObjectRef = { name: string; query: { namespace?: string } }
type Stored = Record<string, unknown> & { metadata: { resourceVersion?: string; uid?: string }; spec?: Spec }

/** What changed, a line each. Another writer in between is no reason to refuse; a task that has started meanwhile is. */
export async function changeObject(
  client: Client,
  entry: KindEntry,
  { name, query }: ObjectRef,
  change: (spec: Spec) => Spec | Promise<Spec>,
): Promise<string[]> {
  const target = { params: { [entry.parameter]: name }, query }
  for (let left = tries; ; left -= 1) {
    const before = (await client.call(entry.get, target)) as unknown as Stored
    if (before.spec === undefined) throw new SvcError('InvalidRequest', `${entry.words[0]} ${name} cannot be changed`)
    const spec = await change(pickOwn(before).spec as Spec)
    const differences = listDifferences(entry.kind, before, { ...before, spec })
    if (differences.length === 0) return []
    const { resourceVersion, uid } = before.metadata
    const update = client.call(entry.update, { ...target, body: { metadata: { resourceVersion, uid }, spec } })
    if (await isTaken(update, left === 1)) return differences
  }
}

/** False when somebody else has written meanwhile, unless it was the last try. */
async function isTaken(update: Promise<unknown>, isLast: boolean): Promise<boolean> {
  try {
    await update
    return true
  } catch (error) {
    if (isLast || !isSvcError(error, 'Conflict') || error.details !== undefined) throw error
    return false
  }
}

export type Keys = Record<string, string>
export type OwnDocument = {
  metadata: { name?: string; namespace?: string; labels?: Keys; annotations?: Keys }
} & Record<string, unknown>

type StoredDocument = Record<string, unknown> & { metadata?: unknown }

/** Set only by the service, which refuses them in requests. */
const stamped = ['requestedBy', 'transaction']

/** The document without what only the service sets, so that it can be sent back at any time. */
export function pickOwn({ status: _status, ...document }: StoredDocument): OwnDocument {
  const { name, namespace, labels, annotations } = (document.metadata ?? {}) as OwnDocument['metadata']
  const [ownLabels, ownAnnotations] = [dropReserved(labels), dropReserved(annotations)]
  return {
    ...document,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(ownLabels && { labels: ownLabels }),
      ...(ownAnnotations && { annotations: ownAnnotations }),
    },
    ...(isJsonObject(document.spec) && { spec: dropStamped(document.spec) }),
  }
}

function dropStamped(spec: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !stamped.includes(key)))
}

function dropReserved(keys: Keys | undefined): Keys | undefined {
  const own = Object.entries(keys ?? {}).filter(([key]) => !key.startsWith(reservedPrefix))
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

/** `spec.model: "a" -> "b"` for each value that differs; defaults count as if they were written out. */
export function listDifferences(kind: string, stored: StoredDocument, wanted: StoredDocument): string[] {
  const differences: string[] = []
  compare('', comparable(kind, stored), comparable(kind, wanted), differences)
  return differences
}

/** Name and namespace say where it is, not what it is. */
function comparable(kind: string, document: StoredDocument): unknown {
  const { metadata, apiVersion: _version, kind: _kind, ...rest } = pickOwn(document)
  const { labels, annotations } = metadata
  return { metadata: { labels, annotations }, ...rest, ...('spec' in rest && { spec: fillDefaults(kind, rest.spec) }) }
}

function fillDefaults(kind: string, spec: unknown): unknown {
  const read = isKind(kind) ? kinds[kind].spec.safeParse(spec) : undefined
  return read?.success ? read.data : spec
}

function compare(path: string, before: unknown, after: unknown, differences: string[]): void {
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(path === '' ? key : `${path}.${key}`, before[key], after[key], differences)
    }
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    differences.push(`${path}: ${formatValue(before)} -> ${formatValue(after)}`)
  }
}

const maxValueLength = 60

function formatValue(value: unknown): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(value)
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength)}…`
}

export async function editObject(
  client: Client,
  entry: KindEntry,
  name: string,
  { options, context }: CliCall,
): Promise<void> {
  const [word] = entry.words
  const target = { params: { [entry.parameter]: name }, query: namespaceQuery(options) }
  const before = await describeForEditor(word, (await client.call(entry.get, target)) as unknown as Stored)
  const after = await context.editText(before, `${name}.yaml`)
  if (after === before) return context.terminal.note(`${word} ${name} is unchanged`)
  const { parse } = await import('yaml')
  await client.call(entry.update, { ...target, body: readDocument(() => parse(after)) })
  context.terminal.note(`${word} ${name} was changed`)
}

/** The fields that a person may change, and the version that they saw. */
async function describeForEditor(word: string, stored: Stored): Promise<string> {
  const own = pickOwn(stored)
  const { resourceVersion } = stored.metadata
  const text = await formatYaml({ ...own, metadata: { ...own.metadata, resourceVersion } })
  return `# Save and leave the editor to change the ${word}; leave it unchanged to change nothing.\n${text}\n`
}

/** InvalidRequest when it is not YAML. */
export function readDocument(parse: () => unknown): object {
  try {
    return parse() as object
  } catch (error) {
    throw new SvcError('InvalidRequest', `the edited text is not valid YAML: ${(error as Error).message}`)
  }
}

type Target = { params: { id: string }; query: { namespace?: string } }

/** What changed, a line each. */
export function changeTask(
  client: Client,
  { params: { id }, query }: Target,
  change: (spec: Spec) => Spec | Promise<Spec>,
): Promise<string[]> {
  return changeObject(client, findEntry('Task'), { name: id, query }, change)
}
