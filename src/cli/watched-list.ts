// A list that stays: what there is, newest first, then a row for each object that changes.
import type { Client } from '../client/client.ts'
import { watchObjects } from '../client/watch.ts'
import { isKind } from '../contract/resources/index.ts'
import { SvcError } from '../errors.ts'
import { chooseColumns, shapeOf, viewOf } from './answers.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { placeOf } from './global-options.ts'
import { type Column, createTable, formatData, nameOf } from './output.ts'

type Watched = { metadata: { name: string; creationTimestamp: string; uid: string } }

export type WatchedList<T> = { kind: string; columnsAt: (now: Date) => Column<T>[]; selector: string | undefined }

type Parts = { client: Client; options: GlobalOptions; context: CliContext }

function queryOf({ kind, selector }: Pick<WatchedList<never>, 'kind' | 'selector'>, options: GlobalOptions) {
  if (!isKind(kind)) throw new SvcError('InvalidRequest', `a ${kind} cannot be watched; leave out --watch`)
  const { namespace, allNamespaces } = placeOf(options)
  const place = allNamespaces === true ? { allNamespaces } : { namespaces: namespace }
  return { kinds: kind, ...place, labelSelector: selector, view: viewOf(options) }
}

function newestFirst<T extends Watched>(items: T[]): T[] {
  const key = ({ metadata }: T) => `${metadata.creationTimestamp} ${metadata.uid}`
  return items.toSorted((one, other) => (key(one) < key(other) ? 1 : -1))
}

/** Prints objects as they come: rows, names, or each as data of its own. */
function createPrinter<T>({ kind, columnsAt }: WatchedList<T>, { options, context }: Parts) {
  const { terminal } = context
  const shape = shapeOf(options, terminal.width)
  const write = createTable<T>(options.wide === true ? undefined : terminal.width)
  return async (items: T[]): Promise<void> => {
    if (options.output === 'table') return terminal.print(write(items, chooseColumns(columnsAt(context.now()), shape)))
    for (const item of items) {
      if (options.output === 'name') terminal.print(nameOf(item, kind))
      else if (options.output === 'yaml') terminal.print(`---\n${await formatData('yaml', item)}`)
      else if (options.output === 'json') terminal.print(JSON.stringify(item))
      else terminal.print((await formatData(options.output, item)) ?? '')
    }
  }
}

/** Until it is interrupted. */
export async function watchList<T extends object>(list: WatchedList<T>, parts: Parts): Promise<void> {
  const { client, options, context } = parts
  const query = queryOf(list, options)
  const print = createPrinter(list, parts)
  await context.interruptible(async (signal) => {
    let present: (T & Watched)[] | undefined
    for await (const event of watchObjects<T & Watched>(client, query, signal)) {
      if (event.type === 'begin') present = []
      else if (event.type === 'synced') {
        await print(newestFirst(present ?? []))
        present = undefined
      } else if (present !== undefined) present.push(event.object)
      else if (event.type === 'deleted') context.terminal.note(`${nameOf(event.object, list.kind)} is gone`)
      else await print([event.object])
    }
  })
}
