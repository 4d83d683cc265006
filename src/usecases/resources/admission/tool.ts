// Tools: the names of built-in tools are reserved, and so is the header that carries a caller's transaction.
import { isDeepStrictEqual } from 'node:util'
import type { ToolSpec } from '../../../contract/kinds/tools/tool.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import { type Problem, SvcError } from '../../../errors.ts'
import { findReservedHeader } from '../../../rules/identity/token-propagation.ts'
import { actorsAreOff, describeToolActor } from '../../../rules/workspaces/actor-templates.ts'
import type { UsecaseDeps, UsecaseSettings } from '../../service/deps.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

/** Conflict when the name is that of a built-in tool. */
export function requireFreeToolName(name: unknown, deps: UsecaseDeps): void {
  if (typeof name !== 'string' || !deps.builtinTools.names.includes(name)) return
  throw new SvcError('Conflict', `tool name is reserved for a built-in tool: "${name}"; choose another name`)
}

/** InvalidRequest for a static header with the name that the service uses for the token of a call (TOOL-011). */
function requireFreeHeaders({ spec }: AdmissionRequest<'Tool'>, { settings }: UsecaseDeps): void {
  const reserved = settings.propagation === undefined ? undefined : findReservedHeader(spec.http?.headers)
  if (reserved === undefined) return
  const path = `spec.http.headers[${JSON.stringify(reserved)}]`
  refuse('tool', [{ path, message: 'is reserved for the token of the caller; remove it' }])
}

/** Paths are relative to the spec. */
export function findToolProblems({ mcp }: ToolSpec, { hasActors }: UsecaseSettings): Problem[] {
  return mcp?.actor === undefined || hasActors === true ? [] : [{ path: 'mcp.actor', message: actorsAreOff }]
}

/** InvalidRequest for an actor from a pool that has actors of another template. */
async function requirePool(request: AdmissionRequest<'Tool'>, { ports }: UsecaseDeps): Promise<void> {
  const { namespace, name, spec, before } = request
  const actors = ports.toolActors
  if (actors === undefined || isDeepStrictEqual(before?.spec.mcp?.actor, spec.mcp?.actor)) return
  const actor = describeToolActor({ spec, metadata: { name, namespace, uid: '' } }, actors)
  const message = await actors.findPoolProblem(actor)
  if (message !== undefined) refuse('tool', [{ path: 'spec.mcp.actor.poolRef', message }])
}

export async function admitTool(request: AdmissionRequest<'Tool'>, deps: UsecaseDeps): Promise<Admitted> {
  requireFreeToolName(request.name, deps)
  requireFreeHeaders(request, deps)
  await requirePool(request, deps)
  return {}
}
