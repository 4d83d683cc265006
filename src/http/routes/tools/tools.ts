// Tools: built-in ones and resources in one list; names of built-in ones are reserved (409).
import type { FastifyRequest } from 'fastify'
import * as routes from '../../../contract/api/tools/tools.ts'
import type { Tool } from '../../../contract/kinds/tools/tool.ts'
import type { Bind, BindOptions } from '../../bind.ts'
import { namedNamespace, wrapPage } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'
import { answerText, bindCreate, bindDelete, bindUpdate } from '../resources/resources.ts'

function presentTool({ metadata, spec, status }: Tool): routes.CustomToolItem {
  const url = spec.http?.url ?? spec.mcp?.url ?? status?.endpoint
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    builtin: false,
    description: spec.description,
    available: status?.available ?? false,
    ...(status?.error ? { error: status.error } : {}),
    ...(url ? { url } : {}),
    createdAt: metadata.creationTimestamp,
  }
}

function nameIn(value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'name' in value ? value.name : undefined
}

/** Names of built-in tools contain "_", so they would be an invalid request before they are a conflict. */
function refuseReserved({ usecases }: RouteContext): BindOptions {
  return {
    before({ params, body }: FastifyRequest) {
      const metadata = body !== null && typeof body === 'object' && 'metadata' in body ? body.metadata : undefined
      for (const named of [params, body, metadata]) usecases.tools.requireFreeName(nameIn(named))
    },
  }
}

export function bindTools(bind: Bind, context: RouteContext): void {
  const { usecases } = context
  const guarded: Bind = (route, handler) => bind(route, handler, refuseReserved(context))
  bindCreate(guarded, context, 'Tool', routes.createTool)
  bindUpdate(guarded, context, 'Tool', routes.updateTool)
  bindDelete(guarded, context, 'Tool', routes.deleteTool)
  bind(routes.listTools, async ({ caller, namespace, query }) => {
    const { builtins, tools, ...page } = await usecases.tools.list(caller, {
      ...query,
      namespace: namedNamespace({ namespace }),
    })
    const items: routes.ToolItem[] = [...builtins, ...tools.map(presentTool)]
    return { json: wrapPage({ ...page, items }, (item) => item) }
  })
  bind(routes.getTool, async ({ caller, namespace, params }) => {
    const tool = await usecases.tools.get(caller, { namespace, name: params.name })
    return 'builtin' in tool ? { json: tool } : answerText(tool)
  })
}
