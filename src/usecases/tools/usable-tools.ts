// The tools that a model may use for a caller: the same rule in chat and in the proxies.
import type { Access } from '../../contract/api/identity/access.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { keepAllowed, requireAccess } from '../identity/access.ts'

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
  asked: Where & { tools: T[] },
): Promise<T[]> {
  if (ports.authorizer === undefined || isOpen(asked)) return asked.tools
  return keepAllowed(ports, asked.caller, { of: asked.tools, read: (tool) => useOf(asked, tool) })
}

/**
 * Checked when a model calls the tool; Forbidden. Leaving a tool out of a list is not a refusal; refusing a call is
 * (CTX-020).
 */
export async function requireUsable(ports: Pick<Ports, 'authorizer'>, asked: Where & { tool: string }): Promise<void> {
  if (!isOpen(asked)) await requireAccess(ports, asked.caller, useOf(asked, { name: asked.tool }))
}
