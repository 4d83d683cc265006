// Commands that list: each is described by its route, filters and columns, and read and printed here.
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import type { CliCall, CliContext } from '../context.ts'
import { readCountFlag, readGlobalOptions, scopeQuery } from '../global-options.ts'
import { describeScope, printList } from './answers.ts'
import type { Column } from './output.ts'
import { type Listed, listNewest, listPages, type PagingOptions } from './paging.ts'
import { type Filters, watchList } from './watched-list.ts'

type Query = PagingOptions['query']

/** Options of the line that mean the same for every list. */
type ListOptions = { limit?: string | undefined; watch?: boolean | undefined; names?: string[] }

/** The line that asks for a list. */
export type ListCall<Flags> = CliCall & { flags: Flags & ListOptions; args: readonly string[] }

export type ListCommand<T, Flags = object> = {
  route: Route
  /** How the service is asked: page after page, or so with the newest first. Absent: the route has no pages. */
  pages?: 'all' | 'newest'
  /** The path parameter that the first argument is. */
  parameter?: 'id' | 'name'
  /** In addition to the namespaces of the line. */
  filters?: (flags: Flags, call: ListCall<Flags>) => Query
  /** It is not of a namespace. */
  isGlobal?: true
  columns: (now: Date, flags: Flags, items?: readonly T[]) => Column<T>[]
  /** What stands in the place of an empty list; `scope` is ` in namespace x` where one was named. */
  empty: (scope: string, call: ListCall<Flags>) => string
  /** What people should know of an empty list, such as that nothing was looked at. */
  explainEmpty?: (call: ListCall<Flags>, client: Client) => Promise<string | undefined>
  /** Of all items: `svc get KIND/NAME` finds them. With `--watch`, the kind that is watched. */
  kind?: string
  /** Of items that are named by something else than `name`. */
  nameOf?: (item: T) => string
  /** What is said when `--limit` left some out. */
  more?: (count: number) => string
}

/** The command with its action. */
export function addList<T, Flags>(command: Command, context: CliContext, list: ListCommand<T, Flags>): Command {
  return command.action(async (...line: unknown[]) => {
    const called = line.at(-1) as Command
    const flags = called.opts<Flags & ListOptions>()
    await showList(list, { options: readGlobalOptions(called), context, flags, args: called.args })
  })
}

/** What is wrong with the line is said before a service is started. */
export async function showList<T, Flags>(
  list: ListCommand<T, Flags>,
  call: ListCall<Flags>,
  connected?: Client,
): Promise<void> {
  const { options, context, flags } = call
  const request = requestOf(list, call)
  const client = connected ?? (await context.connect(options))
  if (flags.watch === true && list.kind !== undefined) {
    const filters = (list.filters?.(flags, call) ?? {}) as Filters
    const { limit } = request
    const columnsAt = (now: Date) => list.columns(now, flags)
    const watched = { kind: list.kind, columnsAt, filters, names: flags.names, ...(limit && { limit }) }
    return watchList(watched as Parameters<typeof watchList>[0], { client, options, context })
  }
  const found = await readList(list, request, client, context)
  await printListed(list, call, found)
  if (found.items.length > 0 || options.output !== 'table') return
  const why = await list.explainEmpty?.(call, client)
  if (why !== undefined) context.terminal.note(why)
}

export async function printListed<T, Flags>(
  list: ListCommand<T, Flags>,
  call: ListCall<Flags>,
  { items, hasMore }: Listed<T>,
): Promise<void> {
  const { options, context, flags } = call
  const { nameOf, kind, more } = list
  await printList(context, options, {
    items: nameOf === undefined ? items : items.map((item) => ({ ...item, name: nameOf(item) })),
    columns: list.columns(context.now(), flags, items),
    empty: list.empty(describeScope(options), call),
    ...(kind !== undefined && { kind }),
  })
  if (hasMore && more !== undefined) context.terminal.note(more(items.length))
}

export function requestOf<T, Flags>(list: ListCommand<T, Flags>, call: ListCall<Flags>): PagingOptions {
  const { options, flags, args } = call
  return {
    query: { ...(list.isGlobal ? {} : scopeQuery(options)), ...list.filters?.(flags, call) },
    ...(list.parameter && { params: { [list.parameter]: args[0] ?? '' } }),
    ...(list.pages && flags.limit !== undefined && { limit: readCountFlag('--limit', flags.limit) }),
  }
}

export async function readList<T, Flags>(
  { route, pages }: ListCommand<T, Flags>,
  request: PagingOptions,
  client: Client,
  { terminal }: CliContext,
): Promise<Listed<T>> {
  if (pages === 'newest') return listNewest<T>(client, route, request)
  if (pages === 'all') return listPages<T>(client, route, request)
  const answer = (await client.call(route, request)) as unknown as { items: T[]; notice?: string }
  if (answer.notice !== undefined) terminal.note(answer.notice)
  return { items: answer.items, hasMore: false }
}
