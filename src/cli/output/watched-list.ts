// A list that stays: what there is, newest first, then a row for each object that changes.
import type { Client } from '../../client/client.ts'
import { type ObjectEvent, watchObjects } from '../../client/watch.ts'
import type { RouteQueryInput } from '../../contract/api/resources/route.ts'
import type { watchResources } from '../../contract/api/resources/watch.ts'
import { isKind } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { scopeQuery } from '../global-options.ts'
import { chooseColumns, shapeOf, viewOf } from './answers.ts'
import { type Column, createTable, formatData, type OutputFormat, objectNameOf } from './output.ts'

type Watched = { metadata: { name: string; creationTimestamp: string; uid: string } }

/** Those that the service applies, as it does to a list. */
export type Filters = Pick<RouteQueryInput<typeof watchResources>, 'labelSelector' | 'phase' | 'type' | 'agent'>

export type WatchedList<T> = {
  kind: string
  columnsAt: (now: Date) => Column<T>[]
  filters: Filters
  /** Only these, whether they are there already or not. */
  names?: string[]
  /** How many of those that are there at the beginning are printed at most; absent: all. */
  limit?: number
}

type Parts = { client: Client; options: GlobalOptions; context: CliContext }

function queryOf({ kind, filters, names }: WatchedList<never>, options: GlobalOptions) {
  if (!isKind(kind)) throw new SvcError('InvalidRequest', `a ${kind} cannot be watched; leave out --watch`)
  const { namespace, allNamespaces } = scopeQuery(options)
  const scope = allNamespaces === true ? { allNamespaces } : { namespaces: namespace }
  return { kinds: kind, ...scope, ...filters, names: names?.join(','), view: viewOf(options) }
}

function newestFirst<T extends Watched>(items: T[]): T[] {
  const key = ({ metadata }: T) => `${metadata.creationTimestamp} ${metadata.uid}`
  return items.toSorted((one, other) => (key(one) < key(other) ? 1 : -1))
}

/** One object as data of its own. */
async function formatOne(item: unknown, kind: string, output: OutputFormat): Promise<string> {
  if (output === 'name') return objectNameOf(item, kind)
  if (output === 'json') return JSON.stringify(item)
  const data = (await formatData(output, item)) ?? ''
  return output === 'yaml' ? `---\n${data}` : data
}

/** Prints objects as they come: rows, or each as data of its own. */
function createPrinter<T>({ kind, columnsAt }: WatchedList<T>, { options, context }: Parts) {
  const { terminal } = context
  const shape = shapeOf(options, terminal.width)
  const write = createTable<T>(options.wide === true ? undefined : terminal.width)
  return async (items: T[]): Promise<void> => {
    if (options.output === 'table') {
      return terminal.print(write(items, chooseColumns(columnsAt(context.now()), shape)))
    }
    for (const item of items) terminal.print(await formatOne(item, kind, options.output))
  }
}

/** Gathers what there is until all of it has arrived; then each change is printed by itself. */
function createReader<T extends Watched>(list: WatchedList<T>, parts: Parts) {
  const print = createPrinter(list, parts)
  const { terminal } = parts.context
  let present: T[] | undefined
  async function printPresent(found: T[]): Promise<void> {
    await print(newestFirst(found).slice(0, list.limit))
    const names = new Set(found.map(({ metadata }) => metadata.name))
    for (const name of list.names?.filter((wanted) => !names.has(wanted)) ?? [])
      terminal.note(`${list.kind.toLowerCase()}/${name} is not there; it is shown once it is`)
  }
  return async (event: ObjectEvent<T>): Promise<void> => {
    if (event.type === 'begin') present = []
    else if (event.type === 'synced') {
      await printPresent(present ?? [])
      present = undefined
    } else if (present !== undefined) present.push(event.object)
    else if (event.type === 'deleted') terminal.note(`${objectNameOf(event.object, list.kind)} is gone from the list`)
    else await print([event.object])
  }
}

/** Until it is interrupted. */
export async function watchList<T extends object>(list: WatchedList<T>, parts: Parts): Promise<void> {
  const { client, options, context } = parts
  const query = queryOf(list, options)
  const take = createReader<T & Watched>(list as WatchedList<T & Watched>, parts)
  await context.interruptible(async (signal) => {
    for await (const event of watchObjects<T & Watched>(client, query, signal)) await take(event)
  })
}
