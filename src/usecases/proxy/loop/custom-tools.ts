// The Tool resources of a namespace, ready to be run; read again when one of them or a Secret changes.
import { assignTool } from '../../../catalog/tools.ts'
import type { Tool as ToolResource } from '../../../contract/resources/tool.ts'
import { isSvcError } from '../../../errors.ts'
import type { Ports } from '../../../ports/index.ts'
import { createHttpTool } from '../../../tools/custom/http-tool.ts'
import type { Tool } from '../../../tools/tool.ts'
import { failTool } from '../../../tools/tool-error.ts'

/** `secrets`: values that no result may hold. */
export type CustomTools = { tools: Tool[]; secrets: string[] }

export type CustomToolCache = { get(namespace: string): Promise<CustomTools> }

type CachePorts = Pick<Ports, 'resources' | 'secrets' | 'clock'>

/** How long a watch that broke is left alone; until then nothing is cached. */
const restartMs = 1000

export function createCustomToolCache({ resources, secrets, clock }: CachePorts): CustomToolCache {
  const known = new Map<string, CustomTools>()
  /** Rises with each change: what was read before it is not kept. */
  let version = 0
  let watching: Promise<boolean> | undefined

  function forget(namespace?: string): void {
    version += 1
    if (namespace === undefined) known.clear()
    else known.delete(namespace)
  }

  /** Ends with the store. */
  async function follow(resourceVersion: string): Promise<void> {
    const { signal } = new AbortController()
    try {
      for await (const { object } of resources.watch('Tool', { resourceVersion, signal })) {
        forget(object.metadata.namespace)
      }
    } catch {
      // Too old, or the store is away: a new watch begins with the next request.
    }
    forget()
    await clock.sleep(restartMs)
    watching = undefined
  }

  async function startWatch(): Promise<boolean> {
    const page = await resources.list('Tool', { limit: 1 })
    follow(page.resourceVersion).catch(() => {})
    return true
  }

  async function read(namespace: string): Promise<CustomTools> {
    const { items } = await resources.list('Tool', { namespace })
    const made = await Promise.all(items.map((item) => makeTool(secrets, item)))
    return { tools: made.map(({ tool }) => tool), secrets: made.flatMap(({ token }) => token ?? []) }
  }

  secrets.onChange(({ namespace }) => forget(namespace))
  return {
    async get(namespace) {
      const cached = known.get(namespace)
      if (cached !== undefined) return cached
      watching ??= startWatch()
      await watching
      const before = version
      const tools = await read(namespace)
      if (before === version) known.set(namespace, tools)
      return tools
    },
  }
}

/** One that can not be called yet is offered all the same, and says why (LLMA-026). */
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
