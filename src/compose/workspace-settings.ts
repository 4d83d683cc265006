// What tasks get that ask for an execution workspace and leave the rest to the service.
import type { Config } from '../config/load.ts'
import { dropUndefined } from '../contract/schema/json.ts'
import { parseDuration } from '../contract/values/duration.ts'
import type { ProviderSettings, WorkspaceSettings } from '../rules/workspaces/execution-workspace.ts'

/** The template that embedded mode provides itself. */
export const localTemplate = 'default'

function seconds(duration: string): number {
  return Math.max(1, Math.ceil(parseDuration(duration) / 1000))
}

function readSandboxes(config: Config, ownNamespace: string | undefined): ProviderSettings | undefined {
  const isLocal = config.mode === 'embedded'
  if (!(config.agentSandboxEnabled ?? isLocal)) return undefined
  const isOurs = !isLocal && config.agentSandboxNamespaceStrategy === 'controller'
  return dropUndefined({
    template: config.agentSandboxDefaultTemplate ?? (isLocal ? localTemplate : undefined),
    cleanupPolicy: config.agentSandboxCleanupPolicy,
    claimTimeoutSeconds: seconds(config.agentSandboxClaimTimeout),
    commandTimeoutSeconds: seconds(config.agentSandboxCommandTimeout),
    // Sandboxes are made from templates of the namespace of their claim.
    templateNamespace: isOurs ? ownNamespace : undefined,
    claimNamespace: isOurs ? ownNamespace : undefined,
  })
}

function readActors(config: Config): ProviderSettings | undefined {
  if (!config.actorEnabled || config.mode === 'embedded') return undefined
  return dropUndefined({
    template: config.actorDefaultTemplate,
    templateNamespace: config.actorDefaultTemplateNamespace,
    cleanupPolicy: config.actorCleanupPolicy,
    claimTimeoutSeconds: seconds(config.actorClaimTimeout),
    commandTimeoutSeconds: seconds(config.actorCommandTimeout),
  })
}

/** `ownNamespace`: where the service itself runs, if on a cluster. */
export function readWorkspaceSettings(config: Config, ownNamespace: string | undefined): WorkspaceSettings {
  return {
    defaultProvider: config.executionWorkspaceDefaultProvider,
    providers: dropUndefined({ 'agent-sandbox': readSandboxes(config, ownNamespace), actor: readActors(config) }),
  }
}

/** Days or a duration. */
export function readRetention({ executionWorkspaceRetention: text }: Config): number {
  return text.endsWith('d') ? Number(text.slice(0, -1)) * 86_400_000 : parseDuration(text)
}

/** For people who look at what there is. */
export function readWorkspaceList(config: Config) {
  return { retentionMs: readRetention(config), hourlyCost: config.executionWorkspaceHourlyCost }
}
