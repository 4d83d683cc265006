// get all: the resources that people have created, of every kind.
import type { Command } from 'commander'
import { typed } from '../../../client/typed.ts'
import type { CliContext } from '../../context.ts'
import { readGlobalOptions, scopeOf } from '../../global-options.ts'
import { type CatalogEntry, catalog } from '../../objects/catalog.ts'
import { describeScope, formatItems, printAnswer, shapeOf } from '../../output/answers.ts'
import { type Column, nameOf } from '../../output/output.ts'
import { listNewest } from '../../output/paging.ts'
import { columnsOf, type ListedItem } from './catalog.ts'

type Invocation = { command: Command; context: CliContext }

/** Without built-in tools, which nobody created. */
export async function listEverything(given: { selector?: string }, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { terminal } = context
  const query = { ...scopeOf(options), labelSelector: given.selector }
  const found: { entry: CatalogEntry; items: ListedItem[] }[] = []
  for (const entry of catalog) {
    const { items } = await listNewest<ListedItem>(client, entry.list, { query })
    const made = items.filter((item) => !item.builtin)
    if (made.length > 0) found.push({ entry, items: made })
  }
  const all = found.flatMap(({ entry, items }) => items.map((item) => ({ kind: entry.kind, ...item })))
  const isRead = options.output === 'table' || options.output === 'name'
  if (isRead && all.length === 0)
    return terminal.note(`nothing${describeScope(options)}; \`${typed('run "say hello"')}\` makes a task`)
  const shape = shapeOf(options, terminal.width)
  const tables = () => found.map(({ entry, items }) => formatItems(items, namedColumns(entry, context), shape))
  await printAnswer(context, options, all, () => tables().join('\n\n'))
}

/** Names in the form that `svc get KIND/NAME` accepts. */
function namedColumns(entry: CatalogEntry, context: CliContext): Column<ListedItem>[] {
  return columnsOf(entry, context.now()).map((column) =>
    column.title === 'NAME' ? { ...column, value: (item) => nameOf(item, entry.kind) } : column,
  )
}
