// Names that the service knows, for completion.
import { listSessions } from '../../contract/api/chat/sessions.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import { listSecrets } from '../../contract/api/resources/secrets.ts'
import { listRepositoryScans } from '../../contract/api/scans/routes.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { namespaceQuery } from '../global-options.ts'
import { listPages } from '../output/paging.ts'
import { kindEntries } from './kinds.ts'

/** More than anybody reads after pressing Tab. */
const maxNames = 500

const others: Record<string, Route> = { secret: listSecrets, session: listSessions, scan: listRepositoryScans }

export async function listKnownNames(kind: string, options: GlobalOptions, context: CliContext): Promise<string[]> {
  const route = kindEntries.find((entry) => entry.words.includes(kind))?.list ?? others[kind]
  if (!route) return []
  const client = await context.connect(options, { start: false })
  const namespace = options.namespace ?? context.target(options).namespace
  type Item = { name?: string; metadata?: { name: string } }
  const { items } = await listPages<Item>(client, route, {
    query: namespaceQuery({ ...options, namespace }),
    limit: maxNames,
  })
  return items.flatMap((item) => item.metadata?.name ?? item.name ?? [])
}
