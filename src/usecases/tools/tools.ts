// Built-in tools and Tool resources as one list: built-in ones first, each page with at most `limit` entries.
import type { BuiltinTool } from '../../contract/api/tools/tools.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey, ResourceText } from '../../ports/resources/resources.ts'
import { matchesSearch } from '../../rules/resources/fields.ts'
import { builtinTools, describeBuiltinTools } from '../../tools/registry/registry.ts'
import { keepAllowed, requireAccess, requireListing, seesSome } from '../identity/access.ts'
import { explainAbsent, listNames, type NamespaceChoice } from '../resources/listing.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { BuiltinTools, UsecaseDeps } from '../service/deps.ts'

type ToolPage = { builtins: BuiltinTool[]; tools: Tool[]; continue?: string; remainingItemCount?: number }
type ToolQuery = NamespaceChoice & { limit: number }

export type ToolUsecases = {
  list(caller: Caller, query: ToolQuery): Promise<ToolPage>
  /** A built-in tool, or the JSON of a resource. NotFound. */
  get(caller: Caller, key: ResourceKey): Promise<BuiltinTool | ResourceText>
}

// A cursor within the built-in tools is their index; one within resources is the store's own.
const builtinCursor = /^builtin-(\d{1,3})$/

function readOffset(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const match = builtinCursor.exec(text)
  return match === null ? undefined : Number(match[1])
}

function makeCursor(offset: number): string {
  return Buffer.from(`builtin-${offset}`, 'latin1').toString('base64url')
}

export function createToolUsecases({ builtinTools, ports }: UsecaseDeps, resources: ResourceUsecases): ToolUsecases {
  async function listCustom(caller: Caller, query: ToolQuery): Promise<ToolPage> {
    const { items, continue: next, remainingItemCount } = await resources.list(caller, 'Tool', query)
    return { builtins: [], tools: items, continue: next, remainingItemCount }
  }

  async function listBuiltins(caller: Caller, { namespace }: Pick<ToolQuery, 'namespace'>): Promise<BuiltinTool[]> {
    const all = await builtinTools.list()
    if (!seesSome(caller, 'Tool')) return all
    const scope = namespace === undefined ? {} : { namespace }
    const read = ({ name }: BuiltinTool) => ({ verb: 'list', kind: 'Tool', ...scope, name }) as const
    return keepAllowed(ports, caller, { of: all, read })
  }

  /** The page that starts at this index of the built-in tools. */
  async function listFrom(offset: number, caller: Caller, query: ToolQuery): Promise<ToolPage> {
    // A label selector can only match resources; built-in tools have no labels.
    const shown = query.labelSelector === undefined ? await listBuiltins(caller, query) : []
    const all = shown.filter(({ name }) => matchesSearch(name, query.search))
    const builtins = all.slice(offset, offset + query.limit)
    const next = offset + builtins.length
    if (next < all.length) return { builtins, tools: [], continue: makeCursor(next) }
    const room = query.limit - builtins.length
    const custom = await listCustom(caller, { ...query, limit: Math.max(room, 1) })
    if (room > 0) return { ...custom, builtins }
    const hasMore = custom.tools.length > 0 || custom.continue !== undefined
    return hasMore ? { builtins, tools: [], continue: makeCursor(next) } : { builtins, tools: [] }
  }

  return {
    async list(caller, query) {
      const storedIn = () => ports.resources.namespacesOf('Tool')
      await requireListing(ports, caller, 'Tool', { namespace: query.namespace, storedIn })
      const { continue: cursor, ...rest } = query
      const offset = readOffset(cursor)
      return offset === undefined ? listCustom(caller, query) : listFrom(offset, caller, rest)
    },
    async get(caller, key) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'Tool', ...key })
      const builtin = (await builtinTools.list()).find((tool) => tool.name === key.name)
      if (builtin !== undefined) return builtin
      // No resource has such a name, and a cluster refuses to be asked for it.
      const found = /^[a-z0-9-]+$/.test(key.name) ? await ports.resources.getText('Tool', key) : undefined
      if (found !== undefined) return found
      throw await explainAbsent('tool', key, async () => [
        ...(await listBuiltins(caller, key)).map(({ name }) => name),
        ...(await listNames(ports, caller, 'Tool', key.namespace)),
      ])
    },
  }
}

type Availability = Parameters<typeof describeBuiltinTools>[0]

export function createBuiltinTools(availability: Availability, options: { hideUnavailable: boolean }): BuiltinTools {
  return {
    list: () => describeBuiltinTools(availability, options),
    names: builtinTools.map((tool) => tool.name),
  }
}
