// Execution workspaces by agent-sandbox, as the settings describe them.
import type { ApiConnection } from '../adapters/kubernetes/api/connection.ts'
import type { KubernetesApi } from '../adapters/kubernetes/api.ts'
import { createExecShell } from '../adapters/kubernetes/execution-workspaces/exec-shell.ts'
import { createAgentSandboxes } from '../adapters/kubernetes/execution-workspaces/execution-workspaces.ts'
import { createRouterShell } from '../adapters/kubernetes/execution-workspaces/router-shell.ts'
import type { SandboxShell } from '../adapters/kubernetes/execution-workspaces/shell.ts'
import { systemClock as clock, systemIds as ids } from '../adapters/system/clock.ts'
import type { Config } from '../config/load.ts'
import type { Egress } from '../ports/egress.ts'
import type { ExecutionWorkspaces } from '../ports/execution-workspaces.ts'

export type SandboxesParts = {
  api: KubernetesApi
  connection: ApiConnection
  egress: Egress
  operatorNamespace: string
}

/** The router is the administrator's choice, and may be anywhere. */
function openShell(config: Config, { api, connection, egress }: SandboxesParts): SandboxShell {
  const { agentSandboxRouterUrl: url, agentSandboxRouterToken: token } = config
  if (url === undefined) return createExecShell({ api, connection })
  const policy = { allowNetworks: [], deny: [], trusted: new URL(url).origin }
  return createRouterShell({ url, token, fetch: egress.fetchWith(policy), ids })
}

/** Where claims are made; empty: anywhere. */
function listNamespaces({ watchNamespace, agentSandboxNamespaceStrategy: strategy }: Config, own: string): string[] {
  if (watchNamespace.length === 0 || strategy === 'task') return watchNamespace
  return [...new Set([...watchNamespace, own])]
}

/** Undefined unless they are enabled. */
export function openSandboxes(config: Config, parts: SandboxesParts): ExecutionWorkspaces | undefined {
  if (!config.agentSandboxEnabled) return undefined
  const { api, operatorNamespace } = parts
  return createAgentSandboxes({
    api,
    clock,
    ids,
    shell: openShell(config, parts),
    instance: operatorNamespace,
    namespaces: listNamespaces(config, operatorNamespace),
    warmPoolPolicy: config.agentSandboxWarmPoolPolicy,
  })
}
