// How a command answers: in the format that was asked for, a table or text for people otherwise.
import type { CliContext, GlobalOptions } from '../context.ts'
import { type Column, formatData, formatTable, objectNameOf } from './output.ts'

/** Prints `value` as asked for; `human` makes the text for people. */
export async function printAnswer(
  context: CliContext,
  options: GlobalOptions,
  value: unknown,
  human: () => string | Promise<string>,
): Promise<void> {
  context.terminal.print((await formatData(options.output, value)) ?? (await human()))
}

type Listing<T> = {
  items: T[]
  columns: Column<T>[]
  /** Said instead of an empty table, with what to do. */
  empty: string
  /** Of all items, where `svc get KIND/NAME` finds them. */
  kind?: string
}

/** Prints the items as asked for. */
export async function printList<T>(context: CliContext, options: GlobalOptions, listing: Listing<T>): Promise<void> {
  const { items, columns, empty, kind } = listing
  const { terminal } = context
  const { output } = options
  if (items.length === 0 && (output === 'table' || output === 'name')) return terminal.note(empty)
  if (output === 'name') return terminal.print(items.map((item) => objectNameOf(item, kind)).join('\n'))
  await printAnswer(context, options, items, () => formatItems(items, columns, shapeOf(options, terminal.width)))
}

type TableShape = { wide?: boolean; everywhere?: boolean; width: number | undefined }

/** How tables look. */
export function shapeOf({ wide = false, allNamespaces = false }: GlobalOptions, width: number | undefined): TableShape {
  return { wide, everywhere: allNamespaces, width }
}

/** The columns that are asked for. */
export function chooseColumns<T>(columns: Column<T>[], { wide = false, everywhere = false }: TableShape): Column<T>[] {
  return columns.filter((column) => wide || !column.wide || (everywhere && column.title === 'NAMESPACE'))
}

/** Tables and names need no whole objects. */
export function viewOf({ output }: GlobalOptions): 'full' | 'summary' {
  return output === 'table' || output === 'name' ? 'summary' : 'full'
}

/** A table without columns that no item fills; a wide one has all others and is never cut. */
export function formatItems<T>(items: T[], columns: Column<T>[], shape: TableShape): string {
  const { wide = false, width } = shape
  const shown = chooseColumns(columns, shape)
  const used = shown.filter((column) => items.some((item) => (column.value(item) ?? '') !== ''))
  return formatTable(items, used, wide ? undefined : width)
}

/** ` in namespace x` where one was named. */
export function describeScope(options: GlobalOptions): string {
  if (options.allNamespaces === true) return ' in any namespace'
  return options.namespace === undefined ? '' : ` in namespace ${options.namespace}`
}
