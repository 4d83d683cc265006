// Execution workspaces that there are.
import * as routes from '../../../contract/api/workspaces/workspaces.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { namedNamespace } from '../../paging.ts'

export function bindWorkspaces(bind: Bind, { usecases: { workspaces } }: RouteContext): void {
  bind(routes.listWorkspaces, async ({ caller, namespace }) => {
    const items = await workspaces.list(caller, { namespace: namedNamespace({ namespace }) })
    return { json: { items, metadata: {} } }
  })
  bind.empty(routes.releaseWorkspace, ({ caller, key }) => workspaces.release(caller, key))
  bind.json(routes.runInWorkspace, ({ caller, key, body }) => workspaces.run(caller, key, body))
}
