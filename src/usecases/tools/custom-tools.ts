// The Tool resources of a namespace, ready to run; read again when one of them or a Secret changes.
import type { Access } from '../../contract/api/identity/access.ts'
import { listToolSecrets } from '../../contract/api/tools/assigned-tool.ts'
import type { Tool } from '../../contract/kinds/tools/tool.ts'
import { isSvcError } from '../../errors.ts'
import type { LookupCaches } from '../../lookup/cache.ts'
import { assignTool } from '../../lookup/tools.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { createCustomTools } from '../../tools/custom/custom-tools.ts'
import type { ModelTool, OutwardContext } from '../../tools/registry/tool.ts'
import { failTool } from '../../tools/registry/tool-error.ts'
import { keepAllowed, requireAccess } from '../identity/access.ts'

/** `secrets`: values that must not appear in any result. */
export type CustomTools = { tools: ModelTool<OutwardContext>[]; secrets: string[] }

export type CustomToolCache = {
  /** Returned without a promise when they are known. */
  get(namespace: string): CustomTools | Promise<CustomTools>
}

type ToolPorts = Pick<Ports, 'resources' | 'secrets' | 'clock' | 'toolActors'>

/** `memory` forgets with the Tools of a namespace. */
export function createCustomToolCache(ports: ToolPorts, memory: LookupCaches): CustomToolCache {
  const cache = memory.createCache<CustomTools>()
  return {
    get: (namespace) =>
      cache.peek(namespace) ?? cache.get(namespace, { namespace, load: () => readTools(ports, namespace) }),
  }
}

async function readTools(ports: ToolPorts, namespace: string): Promise<CustomTools> {
  const { items } = await ports.resources.list('Tool', { namespace })
  const made = await Promise.all(items.map((item) => makeTools(ports, item)))
  return { tools: made.flatMap(({ tools }) => tools), secrets: made.flatMap(({ secrets: own }) => own) }
}

/** A tool that cannot be called yet is offered anyway, and explains why (LLMA-026). */
async function makeTools({ clock, ...ports }: ToolPorts, resource: Tool): Promise<CustomTools> {
  try {
    const assigned = await assignTool(ports, resource)
    return { tools: createCustomTools(assigned, clock), secrets: listToolSecrets(assigned) }
  } catch (error) {
    if (!isSvcError(error)) throw error
    return { tools: [makeUnusable(resource, error.message)], secrets: [] }
  }
}

function makeUnusable({ metadata, spec }: Tool, reason: string): ModelTool<OutwardContext> {
  return {
    name: metadata.name,
    description: spec.description,
    parameters: { type: 'object', properties: {}, ...spec.parameters },
    repeatable: true,
    ownsOutputLimit: false,
    check: async () => ({ available: true }),
    invoke: async () => failTool('not_configured', reason),
  }
}

/** `owner`: the Tool resource that decides, where that has another name. */
type Named = { name: string; owner?: string }

type Where = {
  caller: Caller
  namespace: string
  /** Absent: the Tool resources of the namespace. */
  serviceTool?: NonNullable<Access['serviceTool']>
}

function useOf({ namespace, serviceTool }: Where, { name, owner = name }: Named): Access {
  const access = { verb: 'use', kind: 'Tool', namespace, name: owner } as const
  return serviceTool === undefined ? access : { ...access, serviceTool }
}

/** Roles do not restrict the service's own tools; only a context token can exclude some. */
function isOpen({ caller, serviceTool }: Where): boolean {
  return serviceTool !== undefined && caller.authType !== 'contextToken'
}

/** The tools that the caller may use. */
export async function keepUsable<T extends Named>(
  ports: Pick<Ports, 'authorizer'>,
  use: Where & { tools: T[] },
): Promise<T[]> {
  if (ports.authorizer === undefined || isOpen(use)) return use.tools
  return keepAllowed(ports, use.caller, { of: use.tools, read: (tool) => useOf(use, tool) })
}

/**
 * Checked when a model calls the tool; Forbidden. Leaving a tool out of a list is not a refusal; refusing a call is
 * (CTX-020).
 */
export async function requireUsable(ports: Pick<Ports, 'authorizer'>, use: Where & { tool: string }): Promise<void> {
  if (!isOpen(use)) await requireAccess(ports, use.caller, useOf(use, { name: use.tool }))
}
