// How answers are printed: tables for people, JSON and YAML for programs.
import { SvcError } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import { fillTemplate } from './json-path.ts'
import { cutTo, padTo, widthOf } from './printable.ts'

/** The last one is a template, see json-path.ts. */
export type OutputFormat = 'table' | 'json' | 'yaml' | 'name' | `jsonpath=${string}`
/** As they are typed, but for paths; `wide` is a table with all its columns. */
export const outputFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const
export const pathPrefix = 'jsonpath='

type Cell = string | number | boolean | undefined | null
export type Column<T> = {
  title: string
  value: (item: T) => Cell
  /** Shown by `-o wide` alone. */
  wide?: boolean
}

const gap = 2
/** A last column narrower than this is not worth cutting for: the line wraps. */
const minLastWidth = 12

/** Writes a table piece by piece: titles with the first one, and columns that only get wider. */
export function createTable<T>(width?: number): (items: T[], columns: Column<T>[]) => string {
  const widths: number[] = []
  return (items, columns) => {
    const titles = widths.length === 0 ? [columns.map((column) => column.title)] : []
    const rows = [...titles, ...items.map((item) => columns.map((column) => formatCell(column.value(item))))]
    columns.forEach((_column, at) => {
      widths[at] = Math.max(widths[at] ?? 0, ...rows.map((row) => widthOf(row[at] ?? '')))
    })
    const taken = widths.slice(0, -1).reduce((sum, each) => sum + each + gap, 0)
    const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(minLastWidth, width - taken)
    return rows.map((row) => formatRow(row, widths, room)).join('\n')
  }
}

/** Columns wide as their widest cell, no trailing blanks; the last is cut where a `width` is given. */
export function formatTable<T>(items: T[], columns: Column<T>[], width?: number): string {
  return createTable<T>(width)(items, columns)
}

function formatRow(row: string[], widths: number[], room: number): string {
  const last = cutTo(row.at(-1) ?? '', room)
  const others = row.slice(0, -1).map((cell, index) => padTo(cell, (widths[index] ?? 0) + gap))
  return [...others, last].join('').trimEnd()
}

/** One line per field, for a single object. */
export function formatFields(fields: [string, Cell][]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...shown.map(([title]) => title.length))
  return shown.map(([title, value]) => `${`${title}:`.padEnd(width + 2)}${formatCell(value)}`).join('\n')
}

/** The value for programs; undefined for `table`, which the caller prints in its own way. */
export async function formatData(format: OutputFormat, value: unknown): Promise<string | undefined> {
  if (format === 'json') return JSON.stringify(value, null, 2)
  if (format === 'yaml') return formatYaml(value)
  if (format === 'name')
    return itemsOf(value)
      .map((one) => objectNameOf(one))
      .join('\n')
  if (format === 'table') return undefined
  const text = fillTemplate(format.slice(pathPrefix.length), Array.isArray(value) ? asList(value) : value)
  // Every answer gets a line break; a template may bring its own.
  return text.replace(/\n$/, '')
}

function itemsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) && value.kind === 'List' && Array.isArray(value.items) ? value.items : [value]
}

/** Several objects as one; paths find them below `items`. */
export function asList(items: unknown[]) {
  return { apiVersion: 'v1', kind: 'List', items }
}

type Named = { kind?: string; name?: string; metadata?: { name?: string } }

/** `agent/a` where the object tells its kind, or is of the kind that is given; otherwise its name alone. */
export function objectNameOf(value: unknown, ofKind?: string): string {
  const { kind = ofKind, name, metadata } = (value ?? {}) as Named
  const found = metadata?.name ?? name
  if (found === undefined) throw new SvcError('InvalidRequest', 'this answer has no name; use -o json')
  return kind === undefined ? found : `${kind.toLowerCase()}/${found}`
}

/** Loaded when it is asked for: most commands print tables. kubectl reads YAML 1.1, where a bare `off` is false. */
export async function formatYaml(value: unknown): Promise<string> {
  return (await import('yaml')).stringify(value, { version: '1.1' }).trimEnd()
}

const ageUnits: [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
]

/** `3d`, `4h`, `12m`, `5s` since the timestamp. */
export function formatAge(timestamp: string | undefined, now: Date): string {
  if (timestamp === undefined) return ''
  const elapsed = Math.max(0, now.getTime() - Date.parse(timestamp))
  const unit = ageUnits.find(([length]) => elapsed >= length)
  return unit ? `${Math.floor(elapsed / unit[0])}${unit[1]}` : `${Math.floor(elapsed / 1000)}s`
}

/** `app=a,team=b`. */
export function formatLabels(labels: Record<string, string> | undefined): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}

function formatCell(value: Cell): string {
  if (value === undefined || value === null) return ''
  // A cell is one line.
  return String(value).replace(/\p{Cc}+/gu, ' ')
}
