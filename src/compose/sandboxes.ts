// Execution workspaces by agent-sandbox, as the settings describe them.
import type { ApiConnection } from '../cluster/api/connection.ts'
import type { KubernetesApi } from '../cluster/api.ts'
import type { Config } from '../config/load.ts'
import type { Egress } from '../ports/service/egress.ts'
import type { ExecutionWorkspaces } from '../ports/workspaces/execution-workspaces.ts'
import { createExecShell } from '../runtime/agent-sandbox/exec-shell.ts'
import { createAgentSandboxes } from '../runtime/agent-sandbox/execution-workspaces.ts'
import { createRouterShell } from '../runtime/agent-sandbox/router-shell.ts'
import type { SandboxShell } from '../runtime/agent-sandbox/shell.ts'
import { systemClock as clock, systemIds as ids } from '../runtime/host/clock.ts'

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
