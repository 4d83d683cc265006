// The fields of an object that people decide, without those that only the service sets, and how two objects differ.

import { isKind, kinds } from '../../contract/kinds/index.ts'
import { reservedPrefix } from '../../contract/kinds/resources/metadata.ts'
import { isJsonObject } from '../../contract/schema/json.ts'

export type Keys = Record<string, string>
export type OwnDocument = {
  metadata: { name?: string; namespace?: string; labels?: Keys; annotations?: Keys }
} & Record<string, unknown>

type Given = Record<string, unknown> & { metadata?: unknown }

/** Set only by the service, which refuses them in requests. */
const stamped = ['requestedBy', 'transaction']

/** The document without what only the service sets, so that it can be sent back at any time. */
export function pickOwn({ status: _status, ...document }: Given): OwnDocument {
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
export function listDifferences(kind: string, stored: Given, wanted: Given): string[] {
  const differences: string[] = []
  compare('', comparable(kind, stored), comparable(kind, wanted), differences)
  return differences
}

/** Name and namespace say where it is, not what it is. */
function comparable(kind: string, given: Given): unknown {
  const { metadata, apiVersion: _version, kind: _kind, ...rest } = pickOwn(given)
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
    differences.push(`${path}: ${print(before)} -> ${print(after)}`)
  }
}

const longestValue = 60

function print(value: unknown): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(value)
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
}
