// The Tool resources of a namespace, ready to run; read again when one of them or a Secret changes.

import { listToolSecrets } from '../../contract/api/tools/assigned-tool.ts'
import type { Tool as ToolResource } from '../../contract/kinds/tools/tool.ts'
import { isSvcError } from '../../errors.ts'
import type { LookupCaches } from '../../lookup/memory.ts'
import { assignTool } from '../../lookup/tools.ts'
import type { Ports } from '../../ports/index.ts'
import { createCustomTools } from '../../tools/custom/custom-tools.ts'
import type { OutwardContext, Tool } from '../../tools/registry/tool.ts'
import { failTool } from '../../tools/registry/tool-error.ts'

/** `secrets`: values that must not appear in any result. */
export type CustomTools = { tools: Tool<OutwardContext>[]; secrets: string[] }

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
async function makeTools({ clock, ...ports }: ToolPorts, resource: ToolResource): Promise<CustomTools> {
  try {
    const assigned = await assignTool(ports, resource)
    return { tools: createCustomTools(assigned, clock), secrets: listToolSecrets(assigned) }
  } catch (error) {
    if (!isSvcError(error)) throw error
    return { tools: [makeUnusable(resource, error.message)], secrets: [] }
  }
}

function makeUnusable({ metadata, spec }: ToolResource, reason: string): Tool<OutwardContext> {
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
