// How answers are printed: tables for people, JSON and YAML for programs.
import { stringify } from 'yaml'

export type OutputFormat = 'table' | 'json' | 'yaml'
export const outputFormats: OutputFormat[] = ['table', 'json', 'yaml']

export type Column<T> = { title: string; value: (item: T) => string | number | boolean | undefined | null }

/** Columns wide as their widest cell, two spaces between, no trailing blanks. */
export function formatTable<T>(items: T[], columns: Column<T>[]): string {
  const rows = [columns.map((c) => c.title), ...items.map((item) => columns.map((c) => formatCell(c.value(item))))]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)))
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One line per field, for a single object. */
export function formatFields(fields: [string, string | number | boolean | undefined | null][]): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...shown.map(([title]) => title.length))
  return shown.map(([title, value]) => `${`${title}:`.padEnd(width + 2)}${value}`).join('\n')
}

/** The value as JSON or YAML; undefined for `table`, which the caller prints in its own way. */
export function formatData(format: OutputFormat, value: unknown): string | undefined {
  if (format === 'json') return JSON.stringify(value, null, 2)
  if (format === 'yaml') return stringify(value).trimEnd()
  return undefined
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

function formatCell(value: string | number | boolean | undefined | null): string {
  if (value === undefined || value === null) return ''
  // A cell is one line: control characters of stored text must not drive the terminal.
  return String(value).replace(/\p{Cc}+/gu, ' ')
}
