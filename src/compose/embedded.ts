// Embedded mode: one process, SQLite, local workloads. Opens what the rest of the service works with.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkerTokens } from '../auth/worker-tokens.ts'
import type { Config } from '../config/load.ts'
import { createEgress } from '../egress/egress.ts'
import { prepareFolders } from '../launch/folders.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports } from '../ports/index.ts'
import { systemClock as clock, systemIds as ids } from '../runtime/host/clock.ts'
import type { LocalWorkspaces } from '../runtime/local/execution-workspaces/workspaces.ts'
import { giveBackLost } from '../runtime/workspaces/sweep.ts'
import { isLoopback } from '../service/addresses.ts'
import { type Closing, createClosing } from '../service/closing.ts'
import { createCredentials } from '../store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../store/identity/token-authenticator.ts'
import { environmentSecret, withEnvironmentSecret } from '../store/local/environment-secret.ts'
import { createEmbeddedLeadership } from '../store/local/leadership.ts'
import { openSecretKeys } from '../store/local/secret-key.ts'
import { createEmbeddedSecrets, type EmbeddedSecrets } from '../store/local/secrets.ts'
import { createRecords } from '../store/records.ts'
import { createConfigMaps } from '../store/resources/configmaps.ts'
import { createResources } from '../store/resources/resources.ts'
import { createSecretStorage } from '../store/resources/secrets.ts'
import { openSqlite, type SqliteDatabase } from '../store/sqlite/database.ts'
import { openCheckouts, openReach, openRepositories } from './checkouts.ts'
import { openCodeHosts } from './code-hosts.ts'
import { ensureDefaultProvider } from './default-provider.ts'
import { defaultConcurrency, openLocalWork } from './embedded-work.ts'
import { composeWorkspaces } from './execution-workspaces.ts'
import type { OpenedMode } from './mode.ts'
import { type OwnerToken, takeOwnerToken } from './owner-token.ts'
import { choosePlans } from './plan-store.ts'
import { openScratch } from './scratch.ts'

type OpenOptions = { owner: OwnerToken; log: Logger }

/** Conflict when another service holds the data folder. */
export async function openEmbedded(config: Config, log: Logger): Promise<OpenedMode> {
  prepareFolders(config)
  const closing = createClosing()
  try {
    return await openAll(config, { owner: takeOwnerToken(config), log }, closing)
  } catch (error) {
    await closing.run()
    throw error
  }
}

async function openAll(config: Config, options: OpenOptions, closing: Closing): Promise<OpenedMode> {
  const { dataDir, secretKeyFile } = config.paths
  const leadership = createEmbeddedLeadership({ dataDir })
  await leadership.acquire(new AbortController().signal)
  closing.add(() => leadership.release())
  const { database, records, resources } = await openStores(dataDir, closing)
  const keys = await openSecretKeys(secretKeyFile)
  const stored = createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock })
  const egress = createEgress()
  closing.add(() => egress.close())
  const reach = openReach(config)
  const checkouts = openCheckouts(config, { egress, policy: reach.policy })
  const work = openLocalWork(config, { records, checkouts, log: options.log })
  const { sandbox, agents, localWorkspaces } = work
  closing.add(() => localWorkspaces.close())
  const secrets = withEnvironmentSecret(stored, environmentValues(config), clock.now())
  const configMaps = createConfigMaps({ database, clock })
  const codeHosts = openCodeHosts(config, { egress, policy: reach.policy })
  const named = { records, resources, secrets, configMaps, codeHosts, checkouts, log: options.log }
  const provided = chooseProviders(config, localWorkspaces)
  const { workloads, sweep } = composeWorkspaces(config, work.workloads, { ...named, ...provided, endsOnClose: true })
  closing.add(() => workloads.close())
  const credentials = createCredentials({ database, clock, ids })
  const ports: Ports = {
    resources,
    records: choosePlans(config, records),
    secrets,
    configMaps,
    workloads,
    sandbox,
    scratch: openScratch(config),
    authenticator: createTokenAuthenticator({ ...credentials, clock, ownerToken: options.owner.text }),
    ...credentials,
    workerTokens: createWorkerTokens({ keys, clock }),
    leadership,
    egress,
    ...openRepositories(config, checkouts, { egress, policy: reach.policy }),
    codeHosts,
    executionWorkspaces: provided.providers,
    clock,
    ids,
    health: [{ name: 'store', check: database.check }],
    close: closing.run,
  }
  const countWorkers = async () => {
    const { idleWorkers, running } = await workloads.status()
    return { idle: idleWorkers.length, busy: running }
  }
  const metrics = { workers: countWorkers, storeBytes: () => statSync(databaseFile(dataDir)).size }
  return {
    ports,
    owners: records.owners,
    leftovers: [
      { name: 'bodies', run: records.sweepOrphans },
      { name: 'git repositories', run: checkouts.clean },
    ],
    sweepWorkloads: sweep,
    idempotencyKey: keys.derive('idempotency')[0]?.key ?? Buffer.alloc(0),
    markerKeys: keys.derive('review markers').map(({ key }) => key),
    metrics,
    owner: options.owner,
    ownerSecret: environmentSecret,
    allowDemoProvider: isLoopback(config.host),
    serviceNames: [],
    sandboxes: config.maxSandboxes ?? defaultConcurrency(),
    taskSettings: { agentPath: agents.path },
    agentPrograms: agents.programs,
    hasCluster: false,
    knowOwnAddresses: reach.knowOwnAddresses,
    prepare: async () => {
      await ensureDefaultProvider(resources, config)
      // The first attempt reports what is wrong with this machine.
      workloads.warmUp().catch(() => undefined)
    },
  }
}

function chooseProviders({ agentSandboxEnabled: isOn = true }: Config, localWorkspaces: LocalWorkspaces) {
  const own = { 'agent-sandbox': localWorkspaces }
  return isOn ? { providers: own, retired: {} } : { providers: {}, retired: own }
}

function databaseFile(dataDir: string): string {
  return join(dataDir, 'svc.db')
}

async function openStores(dataDir: string, closing: Closing) {
  const database = openSqlite({ path: databaseFile(dataDir) })
  closing.add(() => database.close())
  const records = createRecords({ database, blobDir: dataDir, clock, ids })
  closing.add(() => records.close())
  await records.sweepOrphans()
  // Nobody but this process lends any.
  await giveBackLost(records.workspaces, clock.now())
  const resources = await createResources(database, { clock, ids })
  closing.add(() => resources.close())
  return { database, records, resources }
}

function environmentValues(config: Config): Record<string, string> {
  return Object.fromEntries(config.vendorKeys.map(({ name, value }) => [name, value]))
}

/** Seals every secret under a new key; returns how many. Conflict while a service uses the folder. */
export async function rotateSecretKey(config: Config): Promise<number> {
  const leadership = createEmbeddedLeadership({ dataDir: config.paths.dataDir })
  await leadership.acquire(new AbortController().signal)
  const database: SqliteDatabase = openSqlite({ path: databaseFile(config.paths.dataDir) })
  try {
    const keys = await openSecretKeys(config.paths.secretKeyFile)
    const secrets: EmbeddedSecrets = createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock })
    return (await secrets.rotateKey()).secrets
  } finally {
    await database.close()
    await leadership.release()
  }
}
