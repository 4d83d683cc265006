// What actors provide, where they are enabled: execution workspaces, and places for MCP servers.
import { createHmac } from 'node:crypto'
import { createActorControl } from '../adapters/actors/control.ts'
import { createIdentities, type MintIdentity } from '../adapters/actors/identity.ts'
import { createActorTemplates } from '../adapters/actors/templates.ts'
import { createDaemonTokens } from '../adapters/actors/tokens.ts'
import { createToolActors } from '../adapters/actors/tool-actors.ts'
import { createActorWorkspaces } from '../adapters/actors/workspaces.ts'
import type { KubernetesApi } from '../adapters/kubernetes/api.ts'
import { systemClock as clock } from '../adapters/system/clock.ts'
import { readEntry } from '../catalog/entries.ts'
import { readActorConfig, type SecretEntry } from '../config/actors.ts'
import type { Config } from '../config/load.ts'
import type { Logger } from '../observability/log.ts'
import type { Egress } from '../ports/egress.ts'
import type { Ports } from '../ports/index.ts'
import type { Secrets } from '../ports/secrets.ts'
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

/** Nothing where actors are not enabled. InvalidRequest when their settings are incomplete. */
export function openActors(
  config: Config,
  deps: ActorDeps,
  closing: Closing,
): Pick<Ports, 'executionWorkspaces' | 'toolActors'> {
  const actors = readActorConfig(config)
  if (actors === undefined) return {}
  const { endpoint, trust, routerUrl, dnsSuffix, templateNamespace, identity } = actors
  const { egress, log } = deps
  const control = createActorControl({ endpoint, trust })
  closing.add(async () => control.close())
  const templates = createActorTemplates(deps.api)
  const isolated = config.enforceNamespaceIsolation
  const read = async ({ name, entry }: SecretEntry) => {
    const key = { namespace: deps.operatorNamespace, name }
    return (await readEntry(deps.secrets, key, { entry, owner: 'the settings of actors' })).value
  }
  const onFault = (message: string) => log.warn({}, message)
  const mintIdentity: MintIdentity | undefined =
    identity && createIdentities({ control, ...identity, readToken: () => read(identity.token), onFault })
  const derive = (purpose: string) => createHmac('sha256', deps.key).update(purpose).digest()
  // As long as the key is the same, so are the names of what it has made.
  const installation = derive('names of actors').toString('hex').slice(0, 12)
  const tokens = createDaemonTokens({
    key: derive('daemons of actors'),
    readBootstrapToken: () => read(actors.bootstrapToken),
  })
  const router = { egress, routerUrl, dnsSuffix }
  return {
    executionWorkspaces: {
      actor: createActorWorkspaces({
        control,
        installation,
        templates,
        router,
        tokens,
        mintIdentity,
        clock,
        isolated,
      }),
    },
    toolActors: createToolActors({
      control,
      installation,
      templates,
      routerUrl,
      dnsSuffix,
      templateNamespace,
      isolated,
    }),
  }
}
