// Tools: the names of the built-in ones are taken.
import { SvcError } from '../../errors.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { AdmissionRequest, Admitted } from './admission.ts'

/** Conflict when the name is that of a built-in tool. */
export function requireFreeToolName(name: unknown, deps: UsecaseDeps): void {
  if (typeof name !== 'string' || !deps.builtinTools.names.includes(name)) return
  throw new SvcError('Conflict', `tool name is reserved for a built-in tool: "${name}"; choose another name`)
}

export function admitTool(request: AdmissionRequest<'Tool'>, deps: UsecaseDeps): Admitted {
  requireFreeToolName(request.name, deps)
  return {}
}
