// YAML to a manifest and back; a file of its own, because the library is heavy.
import { isMap, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml'
import { endless, isTree } from '../../parts/tree.ts'
import type { Manifest } from './object-kinds.ts'

const ownMetadata = ['name', 'namespace', 'labels', 'annotations']

/** With the head that `svc apply` and kubectl want; what the service writes is left out. */
export function writeManifest(head: { apiVersion: string; kind: string }, { metadata, spec }: Manifest): string {
  const own = Object.entries(metadata).filter(([name]) => ownMetadata.includes(name))
  return stringify({ ...head, metadata: Object.fromEntries(own), spec }, { lineWidth: 0 })
}

type Reading = { manifest?: Manifest; problem?: string }

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The manifest, or what stands in the way with its line. */
export function readManifest(text: string): Reading {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) return { problem: `Line ${lines.linePos(error.pos[0]).line}: ${error.message}` }
  const value = toPlain(() => document.toJS() as unknown)
  if (typeof value === 'string') return { problem: value }
  const { metadata = {}, spec } = value as Partial<Manifest>
  if (!isObject(metadata)) return { problem: `Line ${lineOf(text, 'metadata')}: metadata must have fields below it.` }
  if (!isObject(spec)) return { problem: 'There must be a "spec:" with fields below it.' }
  return { manifest: { metadata, spec: spec as Manifest['spec'] } }
}

/** Aliases that would grow beyond measure are refused by the library. */
function toPlain(read: () => unknown): unknown {
  try {
    const value = read()
    if (!isTree(value)) return endless
    return isObject(value) ? value : 'There must be "metadata:" and "spec:".'
  } catch (error) {
    return (error as Error).message
  }
}

/** The parts of a path as the service writes it. */
function partsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index)
    return quoted === undefined ? (name ?? '') : (JSON.parse(quoted) as string)
  })
}

type Place = { node: Node | null; at: number }

/** The field or entry below, and where it begins; undefined where there is none. */
function below({ node, at }: Place, part: string | number): Place | undefined {
  if (isSeq(node) && typeof part === 'number') {
    const entry = node.items[part] as Node | undefined
    return entry && { node: entry, at: entry.range?.[0] ?? at }
  }
  const pair = isMap(node) ? node.items.find(({ key }) => String(key) === part) : undefined
  return pair && { node: pair.value as Node | null, at: (pair.key as Node).range?.[0] ?? at }
}

/** The line of the field at the path, or of what is nearest above it; the first line is 1. */
export function lineOf(text: string, path: string): number {
  const lines = new LineCounter()
  const node = parseDocument(text, { lineCounter: lines }).contents as Node | null
  let place: Place = { node, at: node?.range?.[0] ?? 0 }
  for (const part of partsOf(path)) {
    const next = below(place, part)
    if (next === undefined) break
    place = next
  }
  return lines.linePos(place.at).line
}
