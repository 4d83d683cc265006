// Tools: the names of built-in tools are reserved, and so is the header that carries a caller's transaction.

import { refuse } from '../../contract/validation.ts'
import { SvcError } from '../../errors.ts'
import { findReservedHeader } from '../../rules/token-propagation.ts'
import type { UsecaseDeps } from '../deps.ts'
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

export function admitTool(request: AdmissionRequest<'Tool'>, deps: UsecaseDeps): Admitted {
  requireFreeToolName(request.name, deps)
  requireFreeHeaders(request, deps)
  return {}
}
