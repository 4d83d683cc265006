// What actors provide, where they are enabled: execution workspaces, and actors that run MCP servers.
import { createHmac } from 'node:crypto'
import type { KubernetesApi } from '../cluster/api.ts'
import { readActorConfig, readRetiredActors, type SecretEntry } from '../config/actors.ts'
import type { Config } from '../config/load.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { readEntry } from '../lookup/entries.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports } from '../ports/index.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { Egress } from '../ports/service/egress.ts'
import { createActorControl } from '../runtime/actors/control.ts'
import { createActorTemplates } from '../runtime/actors/templates.ts'
import { createDaemonTokens, createIdentities, type MintIdentity } from '../runtime/actors/tokens.ts'
import { createToolActors } from '../runtime/actors/tool-actors.ts'
import { createActorWorkspaces } from '../runtime/actors/workspaces.ts'
import type { Closing } from '../service/closing.ts'

export type ActorDeps = {
  api: Pick<KubernetesApi, 'request'>
  egress: Egress
  secrets: Secrets
  log: Logger
  /** Where the Secrets of the settings are. */
  operatorNamespace: string
  /** Secret of this installation. */
  key: Uint8Array
}

export type OpenedActors = Pick<Ports, 'executionWorkspaces' | 'toolActors'>

function openShared(config: Config, { api, egress, key }: ActorDeps, closing: Closing) {
  const derive = (purpose: string) => createHmac('sha256', key).update(purpose).digest()
  return {
    clock,
    ids,
    // As long as the key is the same, so are the names of what it has made.
    installation: derive('names of actors').toString('hex').slice(0, 12),
    templates: createActorTemplates(api),
    router: { egress, routerUrl: config.actorRouterUrl, dnsSuffix: config.actorActorDnsSuffix },
    openControl(options: Parameters<typeof createActorControl>[0]) {
      const control = createActorControl(options)
      closing.add(async () => control.close())
      return control
    },
    openTokens: (readBootstrapToken: () => Promise<string>) =>
      createDaemonTokens({ key: derive('daemons of actors'), readBootstrapToken }),
  }
}

/** Nothing where actors are not enabled. InvalidRequest when their settings are incomplete. */
function openActors(config: Config, deps: ActorDeps, closing: Closing): OpenedActors {
  const actors = readActorConfig(config)
  if (actors === undefined) return {}
  const { endpoint, trust, routerUrl, dnsSuffix, templateNamespace, identity } = actors
  const { openControl, openTokens, ...shared } = openShared(config, deps, closing)
  const control = openControl({ endpoint, trust })
  const read = async ({ name, entry }: SecretEntry) => {
    const key = { namespace: deps.operatorNamespace, name }
    return (await readEntry(deps.secrets, key, { entry, owner: 'the settings of actors' })).value
  }
  const onFault = (message: string) => deps.log.warn({}, message)
  const mintIdentity: MintIdentity | undefined =
    identity && createIdentities({ control, ...identity, readToken: () => read(identity.token), onFault })
  const tokens = openTokens(() => read(actors.bootstrapToken))
  return {
    executionWorkspaces: { actor: createActorWorkspaces({ ...shared, control, tokens, mintIdentity }) },
    toolActors: createToolActors({
      ...shared,
      control,
      routerUrl,
      dnsSuffix,
      templateNamespace,
      isolated: config.enforceNamespaceIsolation,
    }),
  }
}

/** Ends what is left of actors that are not enabled any more, where the settings still say whom to ask. */
function openRetiredActors(
  config: Config,
  deps: ActorDeps,
  closing: Closing,
): NonNullable<Ports['executionWorkspaces']> {
  const retired = readRetiredActors(config)
  if (retired === undefined) return {}
  const { openControl, openTokens, ...shared } = openShared(config, deps, closing)
  const tokens = openTokens(() => Promise.reject(new Error('actors are not enabled')))
  return { actor: createActorWorkspaces({ ...shared, control: openControl(retired), tokens }) }
}

export function openAnyActors(config: Config, deps: ActorDeps, closing: Closing) {
  return { actors: openActors(config, deps, closing), retired: openRetiredActors(config, deps, closing) }
}
