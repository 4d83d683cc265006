// Attempts in execution workspaces: the workloads that run them, and the sweep of what nobody holds any more.
import { join } from 'node:path'
import { createWorkerTokens, deriveTokenKey } from '../auth/worker-tokens.ts'
import type { Config } from '../config/load.ts'
import { notesForLog } from '../contract/api/tasks/log-marks.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { resolveCheckout } from '../controllers/tasks/checkout.ts'
import { resolveEnvironment } from '../controllers/tasks/environment.ts'
import { messageOf } from '../errors.ts'
import { workerProgram } from '../launch/program-files.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { isLiveIn } from '../lookup/live-task.ts'
import type { Logger } from '../observability/log.ts'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { WorkerTokens } from '../ports/identity/identity.ts'
import type { Records } from '../ports/index.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import type { Resources } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import type { Workloads } from '../ports/tasks/workloads.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'
import type { WorkspaceHolder } from '../ports/workspaces/workspace-records.ts'
import type { PodGate } from '../runtime/jobs/pod-gate.ts'
import type { WorkspaceWorkloadsOptions } from '../runtime/workspaces/attempt.ts'
import { listPublicAddresses } from '../runtime/workspaces/network.ts'
import { sweepWorkspaces } from '../runtime/workspaces/sweep.ts'
import { createWorkerBundle } from '../runtime/workspaces/worker-bundle.ts'
import { withExecutionWorkspaces } from '../runtime/workspaces/workloads.ts'
import { showWorkspaceStatus } from '../usecases/index.ts'
import { checkoutPartsOf } from './checkouts.ts'
import { readRetention } from './settings.ts'

export type WorkspaceParts = {
  providers: WorkspaceWorkloadsOptions['providers']
  retired?: WorkspaceWorkloadsOptions['retired']
  records: Records
  resources: Resources
  secrets: Secrets
  configMaps: ConfigMaps
  codeHosts?: CodeHosts
  checkouts: Checkouts
  log: Logger
  /** True when what runs in workspaces ends with this process. */
  endsOnClose: boolean
  /** Absent: the network of workspaces is not limited by policies. */
  gate?: PodGate | undefined
}

function createFinder({ resources, secrets, configMaps, records, codeHosts }: WorkspaceParts) {
  const findTask = async ({ namespace, taskName, taskUid }: WorkspaceHolder) => {
    const task = await resources.get('Task', { namespace, name: taskName })
    return task?.metadata.uid === taskUid ? task : undefined
  }
  return {
    findTask,
    async findCheckout(holder: WorkspaceHolder) {
      const task = await findTask(holder)
      return task && resolveCheckout({ resources, secrets, records, codeHosts }, task)
    },
    async findSecrets(holder: WorkspaceHolder) {
      const task = await findTask(holder)
      return task && (await resolveEnvironment({ secrets, configMaps }, { task, limits: {} })).secrets
    },
    isLive: isLiveIn(resources),
  }
}

export function composeWorkspaces<W extends Workloads & { detach?(): Promise<void> }>(
  config: Config,
  inner: W,
  parts: WorkspaceParts,
) {
  const { records, resources, checkouts, log, endsOnClose } = parts
  const { providers, retired = {}, gate } = parts
  const finder = createFinder(parts)
  const warn = (error: unknown) => log.warn({ error: messageOf(error) }, 'the state of a workspace could not be shown')
  const workloads = withExecutionWorkspaces(inner, {
    providers,
    retired,
    records: records.workspaces,
    clock,
    ids,
    quota: config.executionWorkspaceQuota,
    endsOnClose,
    ...(gate && { guard: { gate, listOutside: listPublicAddresses } }),
    readBundle: createWorkerBundle(workerProgram),
    report: (holder, change) => showWorkspaceStatus({ resources, clock }, holder, change).catch(warn),
    onLog: ({ taskUid, attempt }, lines) => records.logs.append({ taskUid, attempt }, notesForLog(lines)).catch(warn),
    findSecrets: finder.findSecrets,
    checkouts: {
      ...checkoutPartsOf(checkouts, records),
      find: finder.findCheckout,
      folder: join(config.paths.dataDir, 'workspace-checkouts'),
    },
  })
  const sweep = () =>
    sweepWorkspaces({
      providers,
      retired,
      records: records.workspaces,
      clock,
      retentionMs: readRetention(config),
      idleMs: parseDuration(config.executionWorkspaceIdle),
      isLive: finder.isLive,
      workloads,
      onFault: (error) => log.warn({ error }, 'a workspace could not be cleaned up yet'),
    })
  return { workloads, sweep }
}

/**
 * Sandboxes and actors bring no token of their own: the service signs one for each attempt in them. `key` is the same in
 * all replicas.
 */
export function withWorkspaceTokens(ofPods: WorkerTokens, key: Uint8Array): WorkerTokens {
  const signed = createWorkerTokens({ keys: deriveTokenKey('workspaces', key), clock })
  const recognizes = (token: string) => signed.recognizes?.(token) ?? false
  return {
    mint: (identity, runsIn) => (runsIn === 'workspace' ? signed : ofPods).mint(identity, runsIn),
    recognizes,
    verify: (token) => (recognizes(token) ? signed : ofPods).verify(token),
  }
}
