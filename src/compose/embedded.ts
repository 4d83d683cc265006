// Embedded mode: one process, SQLite, local workloads. Opens what the rest of the service works with.
import { statSync } from 'node:fs'
import { commandHint } from '../client/command-hint.ts'
import type { Config } from '../config/load.ts'
import { createEgress } from '../egress/egress.ts'
import { isSvcError } from '../errors.ts'
import { prepareFolders } from '../launch/folders.ts'
import { isLoopbackHost } from '../lib/loopback.ts'
import { systemClock as clock } from '../lib/system-clock.ts'
import type { Logger } from '../observability/log.ts'
import type { Ports } from '../ports/index.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { LocalWorkspaces } from '../runtime/local/execution-workspaces/workspaces.ts'
import { type Closing, createClosing } from '../service/closing.ts'
import { environmentSecret, withEnvironmentSecret } from '../store/local/environment-secret.ts'
import { createEmbeddedLeadership } from '../store/local/leadership.ts'
import { openSecretKeys } from '../store/local/secret-key.ts'
import { createEmbeddedSecrets, type EmbeddedSecrets } from '../store/local/secrets.ts'
import { createSecretStorage } from '../store/resources/secrets.ts'
import { openSqlite, type SqliteDatabase } from '../store/sqlite/database.ts'
import { openCheckouts, openCodeHosts, openReach, openRepositories } from './checkouts.ts'
import { databaseFile, openEmbeddedStores } from './embedded-stores.ts'
import { defaultConcurrency, openLocalWork } from './embedded-work.ts'
import { composeWorkspaces } from './execution-workspaces.ts'
import { type OpenedMode, type OwnerToken, takeOwnerToken } from './mode.ts'
import { openScratch } from './scratch.ts'
import { choosePlans, isolationOf } from './settings.ts'

const families = { ANTHROPIC_API_KEY: 'llma', VENDOR_API_KEY: 'llma', OPENAI_API_KEY: 'llmo' } as const

/**
 * Only where no language model is set up: a key that somebody exports takes nothing away from the provider that answers. Leaves an
 * existing provider of that name unchanged, but adds a model if it has none.
 */
export async function ensureDefaultProvider(resources: Resources, config: Config): Promise<void> {
  const [key] = config.vendorKeys
  if (key === undefined) return
  const { items } = await resources.list('Provider', { namespace: environmentSecret.namespace })
  if (items.some(({ metadata, spec }) => metadata.name !== 'default' && spec.type !== 'demo')) return
  const metadata = { namespace: environmentSecret.namespace, name: 'default' }
  const spec = {
    type: families[key.name as keyof typeof families],
    secretRef: { name: environmentSecret.name, key: key.name },
    serverTools: true,
    defaultModel: config.defaultModel,
  }
  try {
    await resources.create('Provider', { metadata, spec })
  } catch (error) {
    if (!isSvcError(error, 'AlreadyExists')) throw error
    await addModel(resources, config)
  }
}

/** `SVC_DEFAULT_MODEL` may be set later than the key. */
async function addModel(resources: Resources, { defaultModel }: Config): Promise<void> {
  const provider = await resources.get('Provider', { namespace: environmentSecret.namespace, name: 'default' })
  if (defaultModel === undefined || !provider || provider.spec.defaultModel !== undefined) return
  if (provider.spec.secretRef?.name !== environmentSecret.name) return
  await resources.update('Provider', { ...provider, spec: { ...provider.spec, defaultModel } })
}

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
  const { owner } = options
  const stored = await openEmbeddedStores({ dataDir, secretKeyFile, ownerToken: owner.text }, closing)
  const { records, keys, idempotencyKey } = stored
  const { resources, configMaps } = stored.ports
  const egress = createEgress()
  closing.add(() => egress.close())
  const reach = openReach(config)
  const checkouts = openCheckouts(config, { egress, policy: reach.policy })
  const work = openLocalWork(config, { records, resources, checkouts, policy: reach.policy, log: options.log })
  const { sandbox, agents, localWorkspaces, runners } = work
  closing.add(() => localWorkspaces.close())
  const secrets = withEnvironmentSecret(stored.ports.secrets, environmentValues(config), clock.now())
  const codeHosts = openCodeHosts(config, { egress, policy: reach.policy })
  const named = { records, resources, secrets, configMaps, codeHosts, checkouts, log: options.log }
  const provided = chooseProviders(config, localWorkspaces)
  const { workloads, sweep } = composeWorkspaces(config, work.workloads, { ...named, ...provided, endsOnClose: true })
  closing.add(() => workloads.close())
  const ports: Ports = {
    ...stored.ports,
    records: choosePlans(config, records),
    secrets,
    workloads,
    runners,
    sandbox,
    scratch: openScratch(config),
    leadership,
    egress,
    ...openRepositories(config, checkouts, { egress, policy: reach.policy }),
    codeHosts,
    executionWorkspaces: provided.providers,
    close: closing.run,
  }
  const countAttempts = async () => {
    const { own, shared } = await workloads.status()
    return { own, shared }
  }
  const metrics = { attempts: countAttempts, storeBytes: () => statSync(databaseFile(dataDir)).size }
  return {
    ports,
    owners: records.owners,
    leftovers: [
      { name: 'bodies', run: records.sweepOrphans },
      { name: 'git repositories', run: checkouts.clean },
    ],
    sweepWorkloads: sweep,
    idempotencyKey,
    markerKeys: keys.derive('review markers').map(({ key }) => key),
    metrics,
    owner,
    ownerSecret: environmentSecret,
    allowDemoProvider: isLoopbackHost(config.host),
    serviceNames: [],
    sandboxes: config.maxSandboxes ?? defaultConcurrency(),
    taskSettings: { isolation: isolationOf(config), maxRunningTasks: config.maxConcurrentTasks ?? 0 },
    agentPrograms: agents,
    hasCluster: false,
    setOwnAddresses: reach.setOwnAddresses,
    prepare: () => ensureDefaultProvider(resources, config),
  }
}

function chooseProviders({ agentSandboxEnabled: isOn = true }: Config, localWorkspaces: LocalWorkspaces) {
  const own = { 'agent-sandbox': localWorkspaces }
  return isOn ? { providers: own, retired: {} } : { providers: {}, retired: own }
}

function environmentValues(config: Config): Record<string, string> {
  return Object.fromEntries(config.vendorKeys.map(({ name, value }) => [name, value]))
}

/** Seals every secret under a new key; returns how many. Conflict while a service uses the folder. */
export async function rotateSecretKey(config: Config): Promise<number> {
  const leadership = createEmbeddedLeadership({ dataDir: config.paths.dataDir })
  await leadership.acquire(new AbortController().signal)
  const database: SqliteDatabase = openSqlite({
    path: databaseFile(config.paths.dataDir),
    restoreCommand: commandHint('restore'),
  })
  try {
    const keys = await openSecretKeys(config.paths.secretKeyFile)
    const secrets: EmbeddedSecrets = createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock })
    return (await secrets.rotateKey()).secrets
  } finally {
    await database.close()
    await leadership.release()
  }
}
