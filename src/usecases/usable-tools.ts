// The tools that a model which works for a caller may have: the same rule in chat and in the proxies.
import type { Access } from '../contract/access.ts'
import type { Caller } from '../ports/identity.ts'
import type { Ports } from '../ports/index.ts'
import { keepAllowed, requireAccess } from './access.ts'

type Named = { name: string }

type Where = {
  caller: Caller
  namespace: string
  /** Absent: the tools are resources of the namespace. */
  serviceTool?: NonNullable<Access['serviceTool']>
}

function useOf({ namespace, serviceTool }: Where, { name }: Named): Access {
  const access = { verb: 'use', kind: 'Tool', namespace, name } as const
  return serviceTool === undefined ? access : { ...access, serviceTool }
}

/** Of the service's own tools roles know nothing: a context token alone may leave some out. */
function isOpen({ caller, serviceTool }: Where): boolean {
  return serviceTool !== undefined && caller.authType !== 'contextToken'
}

/** Those that the caller may use. */
export async function keepUsable<T extends Named>(
  ports: Pick<Ports, 'authorizer'>,
  asked: Where & { tools: T[] },
): Promise<T[]> {
  if (ports.authorizer === undefined || isOpen(asked)) return asked.tools
  return keepAllowed(ports, asked.caller, { of: asked.tools, read: (tool) => useOf(asked, tool) })
}

/** Asked when a model calls one of them; Forbidden. What a list leaves out is no refusal, a call of it is (CTX-020). */
export async function requireUsable(ports: Pick<Ports, 'authorizer'>, asked: Where & { tool: string }): Promise<void> {
  if (!isOpen(asked)) await requireAccess(ports, asked.caller, useOf(asked, { name: asked.tool }))
}
