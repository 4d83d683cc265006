// The Tool resources of a namespace, ready to run; read again when one of them or a Secret changes.
import { createCatalogMemory } from '../../catalog/memory.ts'
import { assignTool } from '../../catalog/tools.ts'
import type { Tool as ToolResource } from '../../contract/resources/tool.ts'
import { isSvcError } from '../../errors.ts'
import type { Ports } from '../../ports/index.ts'
import { createHttpTool } from '../../tools/custom/http-tool.ts'
import type { Tool } from '../../tools/tool.ts'
import { failTool } from '../../tools/tool-error.ts'

/** `secrets`: values that must not appear in any result. */
export type CustomTools = { tools: Tool[]; secrets: string[] }

export type CustomToolCache = {
  /** Returned without a promise when they are known. */
  get(namespace: string): CustomTools | Promise<CustomTools>
  /** After this nothing is cached. */
  close(): void
}

export function createCustomToolCache(ports: Pick<Ports, 'resources' | 'secrets' | 'clock'>): CustomToolCache {
  const memory = createCatalogMemory(ports, { kinds: ['Tool'] })
  const cache = memory.createCache<CustomTools>()
  return {
    get: (namespace) =>
      cache.peek(namespace) ?? cache.get(namespace, { namespace, load: () => readTools(ports, namespace) }),
    close: memory.close,
  }
}

async function readTools(
  { resources, secrets }: Pick<Ports, 'resources' | 'secrets'>,
  namespace: string,
): Promise<CustomTools> {
  const { items } = await resources.list('Tool', { namespace })
  const made = await Promise.all(items.map((item) => makeTool(secrets, item)))
  return { tools: made.map(({ tool }) => tool), secrets: made.flatMap(({ token }) => token ?? []) }
}

/** A tool that cannot be called yet is offered anyway, and explains why (LLMA-026). */
async function makeTool(secrets: Ports['secrets'], resource: ToolResource): Promise<{ tool: Tool; token?: string }> {
  try {
    const assigned = await assignTool(secrets, resource)
    const token = assigned.http.auth?.token
    return { tool: createHttpTool(assigned), ...(token === undefined ? {} : { token }) }
  } catch (error) {
    if (!isSvcError(error)) throw error
    return { tool: makeUnusable(resource, error.message) }
  }
}

function makeUnusable({ metadata, spec }: ToolResource, reason: string): Tool {
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
