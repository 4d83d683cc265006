// Backup and restore of a service on a cluster: its objects through the cluster's API, its records in PostgreSQL.
import { hostname } from 'node:os'
import type { BackupNote } from '../client/machine.ts'
import { connectFromKubeconfig } from '../cluster/api/connection.ts'
import { collections } from '../cluster/api/paths.ts'
import { createKubernetesApi, type KubernetesApi, listAllPages } from '../cluster/api.ts'
import { countNamedSecrets, readBackupObjects } from '../cluster/backup/objects.ts'
import { requireNoObjects, restoreObjects } from '../cluster/backup/restore.ts'
import { mapUids } from '../cluster/backup/uids.ts'
import type { LeaseObject } from '../cluster/leadership/lease.ts'
import { createKubernetesLeadership } from '../cluster/leadership.ts'
import type { ApiObject } from '../cluster/reflector.ts'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { type ClusterObjects, restoreClusterBackup, takeClusterBackup } from '../upkeep/cluster-backup.ts'
import { leaseName } from './kubernetes.ts'

/** A leader that has died is known to be gone after its lease. */
const leaderWaitMs = 8_000

type Opened = { api: KubernetesApi; config: Config }

function openObjects({ api, config }: Opened, withSecrets: boolean): ClusterObjects {
  const { watchNamespace: namespaces } = config
  return {
    async read() {
      const objects = await readBackupObjects(api, { namespaces, withSecrets })
      return { lines: objects.map((object) => JSON.stringify(object)), secrets: countNamedSecrets(objects) }
    },
    requireNone: () => requireNoObjects(api, namespaces),
    async restore(lines) {
      const uids = await restoreObjects(
        api,
        lines.map((line) => JSON.parse(line) as ApiObject),
      )
      return (text) => mapUids(text, uids)
    },
  }
}

function requireDatabase({ databaseUrl }: Config): string {
  if (databaseUrl !== undefined) return databaseUrl
  const advice = 'name the PostgreSQL of the service in SVC_DATABASE_URL'
  throw new SvcError('NotConfigured', `${advice}; a service with SQLite is backed up with its volume`)
}

/** Where the service's Lease is; undefined where no service has ever led. */
async function findLeaseNamespace({ api, config }: Opened): Promise<string | undefined> {
  if (config.operatorNamespace !== undefined) return config.operatorNamespace
  const query = { fieldSelector: `metadata.name=${leaseName}` }
  const leases = await listAllPages<LeaseObject>(api, { collection: collections.leases, query })
  const [first, second] = leases.map(({ metadata }) => String(metadata.namespace))
  if (second === undefined) return first
  throw new SvcError('InvalidRequest', 'several services have led here: name yours in SVC_OPERATOR_NAMESPACE')
}

/** Leads meanwhile, so that no replica starts what is only half there. Conflict while one leads. */
async function whileHeld<T>(opened: Opened, work: () => Promise<T>): Promise<T> {
  const namespace = await findLeaseNamespace(opened)
  if (namespace === undefined) return await work()
  const { api } = opened
  const leadership = createKubernetesLeadership({ api, clock, ids, name: leaseName, namespace, identity: hostname() })
  const deadline = AbortSignal.timeout(leaderWaitMs)
  await leadership.acquire(deadline).catch((error: unknown) => {
    if (!deadline.aborted) throw error
    const advice = `kubectl -n ${namespace} scale --replicas 0 deployment/svc`
    throw new SvcError('Conflict', `a replica of the service leads in ${namespace}: stop it first (${advice})`)
  })
  try {
    return await work()
  } finally {
    await leadership.release()
  }
}

async function withApi<T>(config: Config, work: (opened: Opened) => Promise<T>): Promise<T> {
  const api = createKubernetesApi({ connection: await connectFromKubeconfig(config.kubeconfig), clock, ids })
  try {
    return await work({ api, config })
  } finally {
    await api.close()
  }
}

export async function backupCluster(
  config: Config,
  folder: string,
  { withSecrets }: { withSecrets: boolean },
): Promise<BackupNote> {
  const databaseUrl = requireDatabase(config)
  return await withApi(config, (opened) =>
    takeClusterBackup({ objects: openObjects(opened, withSecrets), databaseUrl }, folder, { withSecrets }),
  )
}

export async function restoreCluster(config: Config, folder: string): Promise<BackupNote> {
  const databaseUrl = requireDatabase(config)
  return await withApi(config, (opened) =>
    whileHeld(opened, () => restoreClusterBackup({ objects: openObjects(opened, false), databaseUrl }, folder)),
  )
}
