// The tools of one turn: chat's own, and the Tool resources of its namespace. Loaded with the first turn.
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import type { ToolHost } from '../../llm/loop/tool-host.ts'
import type { LookupCaches } from '../../lookup/cache.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { TraceOrigin } from '../../rules/tasks/trace-context.ts'
import { createOrchestrationHost, listOrchestrationTools } from '../../tools/coordination/orchestration-tools.ts'
import { hostTools } from '../../tools/registry/registry.ts'
import { createLinks, type Links, type ModelTool, type OutwardContext, showTool } from '../../tools/registry/tool.ts'
import type { BoundOrchestration } from '../coordination/orchestration/orchestration.ts'
import { propagateOf } from '../identity/tool-token.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createCustomToolCache, keepUsable, requireUsable } from '../tools/custom-tools.ts'
import type { SecretWords } from './secret-words.ts'

type ToolsRequest = {
  caller: Caller
  namespace: string
  /** Whether the message asks for a change. */
  manages: boolean
  toolTimeoutMs: number
  /** From which the ids of its trace follow, which goes along with what the tools call. */
  trace: TraceOrigin
}

/** `close` ends what they have kept open; it never rejects. */
type TurnTools = { host: ToolHost; close(): Promise<void> }

export type TurnToolOpener = {
  /** Those that the caller may use; their calls need no approval. */
  open(request: ToolsRequest, orchestration: BoundOrchestration): Promise<TurnTools>
}

/** Vendors take no more. */
const maxTools = 128

/** Its schema too: whoever writes a Tool may have put a key into an example. */
function redactTool(tool: ModelTool<OutwardContext>, redact: Redactor): ModelTool<OutwardContext> {
  const parameters = tryParseJson(redact(JSON.stringify(tool.parameters)))
  return {
    ...tool,
    description: redact(tool.description),
    parameters: isJsonObject(parameters) && parameters.type === 'object' ? parameters : { type: 'object' },
  }
}

export function createTurnToolOpener(
  deps: Pick<UsecaseDeps, 'ports' | 'settings'>,
  caches: LookupCaches,
  words: Pick<SecretWords, 'redactorOf'>,
): TurnToolOpener {
  const { ports } = deps
  const custom = createCustomToolCache(ports, caches)
  const redacted = caches.createCache<ModelTool<OutwardContext>[]>()

  async function load(namespace: string): Promise<ModelTool<OutwardContext>[]> {
    const [{ tools }, redact] = await Promise.all([custom.get(namespace), words.redactorOf(namespace)])
    return tools.map((tool) => redactTool(tool, redact))
  }

  async function listCustom({ caller, namespace }: ToolsRequest): Promise<ModelTool<OutwardContext>[]> {
    const tools = await redacted.get(namespace, { namespace, load: () => load(namespace) })
    return keepUsable(ports, { caller, namespace, tools })
  }

  function reachOf({ caller, namespace, trace }: ToolsRequest, links: Links): OutwardContext {
    const { allowNetworks, ownAddresses } = deps.settings
    return {
      egress: ports.egress,
      egressPolicy: { allowNetworks: [...allowNetworks], deny: [...ownAddresses()] },
      propagation: propagateOf(deps, { caller, namespace }),
      trace: { ...trace, attempt: 1 },
      links,
    }
  }

  return {
    async open(request, orchestration) {
      const { caller, namespace, manages, toolTimeoutMs } = request
      const [own, theirs] = await Promise.all([
        keepUsable(ports, {
          caller,
          namespace,
          tools: listOrchestrationTools({ manages }),
          serviceTool: 'coordination',
        }),
        listCustom(request),
      ])
      const links = createLinks()
      const offered = new Map(theirs.slice(0, maxTools - own.length).map((tool) => [tool.name, tool]))
      const list = [...own, ...[...offered.values()].map(showTool)]
      const coordination = createOrchestrationHost({ orchestration, toolTimeoutMs, clock: ports.clock }, own)
      const calling = hostTools([...offered.values()], reachOf(request, links))
      return {
        host: {
          list: () => list,
          async call(call, signal) {
            const tool = offered.get(call.name)
            const use = tool === undefined ? { serviceTool: 'coordination' as const } : {}
            await requireUsable(ports, { caller, namespace, tool: tool?.owner ?? call.name, ...use })
            return (tool === undefined ? coordination : calling).call(call, signal)
          },
        },
        close: links.close,
      }
    },
  }
}
