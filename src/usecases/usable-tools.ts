// The tools that a model which works for a caller is offered: the same rule in chat and in the proxies.
import type { Access } from '../contract/access.ts'
import type { Caller } from '../ports/identity.ts'
import type { Ports } from '../ports/index.ts'
import { mayAccess } from './access.ts'

type Named = { name: string }

type Asked<T> = {
  caller: Caller
  namespace: string
  tools: T[]
  /** Absent: the tools are resources of the namespace. */
  serviceTool?: NonNullable<Access['serviceTool']>
}

/**
 * Those that the caller may use. Of the service's own tools roles know nothing: a context token alone may leave some out.
 */
export async function keepUsable<T extends Named>(
  ports: Pick<Ports, 'authorizer'>,
  { caller, namespace, tools, serviceTool }: Asked<T>,
): Promise<T[]> {
  const { authorizer } = ports
  if (authorizer === undefined || (serviceTool !== undefined && caller.authType !== 'contextToken')) return tools
  const ofAll = { verb: 'use', kind: 'Tool', namespace } as const
  const answers = await Promise.all(
    tools.map(async ({ name }) =>
      serviceTool === undefined
        ? mayAccess(ports, caller, { ...ofAll, name })
        : (await authorizer.authorize(caller, { ...ofAll, name, serviceTool })).allowed,
    ),
  )
  return tools.filter((_tool, at) => answers[at])
}
