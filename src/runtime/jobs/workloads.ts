// The Workloads port on a cluster: a Job per attempt, seen through one watch of Jobs and one of pods.
import { mkdirSync } from 'node:fs'
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { unlessExists } from '../../cluster/api/failures.ts'
import { collections } from '../../cluster/api/paths.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { isSvcError, messageOf, SvcError } from '../../errors.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import { createRedactor } from '../../observability/redaction.ts'
import type { Logs } from '../../ports/tasks/outputs.ts'
import type { AttemptKey, WorkloadSpec, WorkloadState, Workloads } from '../../ports/tasks/workloads.ts'
import { type Attempt, createAttemptTable, nameAttempt, openAttemptFolder, podOf } from './attempts.ts'
import { createPodCheckouts } from './checkouts/checkouts.ts'
import { nameFolder, type PodCheckoutParts } from './checkouts/work.ts'
import type { HelperLimits } from './hardening.ts'
import { keeperFolder, readPodFiles } from './left-files.ts'
import { type ManifestOptions, makeJob, makeSecret, type PriorityClass, type WorkerImage } from './manifests.ts'
import { createNamespacePreparer } from './namespaces.ts'
import { createObjectCache, type ObjectCache, type ObjectChange } from './object-cache.ts'
import {
  type ClusterObject,
  componentSelector,
  type Job,
  jobs,
  keeperName,
  nameJob,
  type Pod,
  podAnnotations,
  podLabels,
  pods,
  readAttempt,
} from './objects.ts'
import type { PodGate } from './pod-gate.ts'
import { removeAttempt } from './removal.ts'
import { sweepSecrets } from './stray-jobs.ts'
import { createSupervision, type Supervision } from './supervision.ts'
import { hasPodEnded } from './verdict.ts'

export type KubernetesWorkloadsOptions = {
  api: KubernetesApi
  /** For programs in pods. */
  connection: ApiConnection
  clock: Clock
  ids: Ids
  /** Consumes the lines of commands. */
  logs: Logs
  log: { warn(fields: Record<string, unknown>, message: string): void }
  /** Identifies this installation on the cluster: the value of a label. */
  instance: string
  /** Absent or empty: attempts run in any namespace. */
  namespaces?: readonly string[]
  /** Runs the workers, and commands that name no image. */
  worker: WorkerImage
  /** Holds the last output of commands until it is read. */
  outputFolder: string
  /** What attempts in git repositories need, and the folder for them; absent: they are refused. */
  checkouts?: { parts: PodCheckoutParts; folder: string }
  /** From TERM to KILL; 10 s. */
  graceSeconds?: number
  /** Size of each writable folder of a pod; 1 GiB. */
  scratchBytes?: number
  /** How long the kubelet may repeat a failing pull or start; default 60 s. */
  startGraceMs?: number
  /** How long a pod may outstay its end before its node counts as lost; default 60 s. */
  nodeGraceMs?: number
  /** The owner of an attempt's Jobs and Secrets: its Task. Absent: none. */
  ownerOf?: (spec: WorkloadSpec) => OwnerReference | undefined
  /** Secrets with the registries' credentials, by name; none. */
  imagePullSecrets?: readonly string[]
  /** Priority classes of pods, by the priority of their task; none. */
  priorityClasses?: readonly PriorityClass[]
  /** Of the containers beside a task's own. */
  helperLimits: HelperLimits
  /** Absent: pods have the network as it is, which the log says. */
  gate?: PodGate
}

export type KubernetesWorkloads = Workloads & {
  /** Whether both caches are filled; rejects when they can never be. */
  ready(): Promise<void>
  /** Stops following logs here, because another replica leads now. Nothing on the cluster changes. */
  detach(): Promise<void>
  /** The caches, for the check of worker tokens. */
  findPod(namespace: string, name: string): Pod | undefined
  findJob(namespace: string, name: string): Job | undefined
  /** The attempt whose pod has the address now. */
  ownerOf(address: string): AttemptKey | undefined
}

function makeManifestOptions(options: KubernetesWorkloadsOptions): ManifestOptions {
  const { instance, worker, graceSeconds = 10, scratchBytes = 1024 ** 3, ownerOf = () => undefined } = options
  const { imagePullSecrets = [], priorityClasses = [], helperLimits } = options
  return { instance, worker, graceSeconds, scratchBytes, ownerOf, imagePullSecrets, priorityClasses, helperLimits }
}

function isSameAttempt(job: Job, key: AttemptKey): boolean {
  const found = readAttempt(job.metadata)
  return found !== undefined && nameAttempt(found.key) === nameAttempt(key)
}

function createCaches(
  options: KubernetesWorkloadsOptions,
  take: { job(change: ObjectChange<Job>): void; pod(change: ObjectChange<Pod>): void },
  onFault: (error: unknown, what: string) => void,
): { jobCache: ObjectCache<Job>; podCache: ObjectCache<Pod> } {
  const { api, clock, ids, namespaces = [], instance } = options
  const shared = {
    api,
    clock,
    ids,
    namespaces,
    labelSelector: `${podLabels.instance}=${instance},${componentSelector}`,
  }
  const jobCache = createObjectCache<Job>({
    ...shared,
    collection: jobs,
    onChange: take.job,
    onFault: (error) => onFault(error, 'the watch of Jobs'),
  })
  const podCache = createObjectCache<Pod>({
    ...shared,
    collection: pods,
    onChange: take.pod,
    onFault: (error) => onFault(error, 'the watch of pods'),
  })
  return { jobCache, podCache }
}

/** Applies what the watches report to the table of attempts. */
function createIntake(table: ReturnType<typeof createAttemptTable>, settle: (attempt: Attempt) => void) {
  function find({ metadata }: ClusterObject, isGone: boolean): Attempt | undefined {
    const names = readAttempt(metadata)
    if (names === undefined) return undefined
    const attempt = isGone ? table.find(names.key) : table.enter(names)
    if (attempt !== undefined && metadata.annotations?.[podAnnotations.hasSecret] === 'true') attempt.hasSecret = true
    return attempt
  }

  function finish(attempt: Attempt): void {
    settle(attempt)
    // An attempt that nobody follows would never be removed.
    if (attempt.job === undefined && attempt.pods.size === 0 && !attempt.isFollowed) table.remove(attempt)
  }

  return {
    job({ object, isGone }: ObjectChange<Job>) {
      const attempt = find(object, isGone)
      if (attempt === undefined) return
      attempt.job = isGone ? undefined : object
      finish(attempt)
    },
    pod({ object, isGone }: ObjectChange<Pod>) {
      const attempt = find(object, isGone)
      if (attempt === undefined) return
      if (isGone) attempt.pods.delete(object.metadata.name)
      else attempt.pods.set(object.metadata.name, object)
      finish(attempt)
    },
  }
}

type PodNetwork = Pick<ManifestOptions, 'reach' | 'guarded'>

/** Creates the objects of an attempt; existing ones are used as they are. */
function createStarter(options: KubernetesWorkloadsOptions, onFault: (error: unknown, what: string) => void) {
  const { api, instance, worker, gate } = options
  const manifests = makeManifestOptions(options)
  const namespaces = createNamespacePreparer({ api, instance, serviceAccount: worker.serviceAccount, onFault })

  async function createSecret(spec: WorkloadSpec): Promise<boolean> {
    const body = makeSecret(spec, manifests)
    if (body === undefined) return false
    const request = { verb: 'create' as const, collection: collections.secrets, namespace: spec.namespace, body }
    await unlessExists(api.request(request))
    return true
  }

  async function createJob(spec: WorkloadSpec, network: PodNetwork): Promise<Job> {
    const { namespace, key, taskName } = spec
    const body = makeJob(spec, { ...manifests, ...network })
    try {
      return await api.request<Job>({ verb: 'create', collection: jobs, namespace, body })
    } catch (error) {
      if (!isSvcError(error, 'AlreadyExists')) throw error
    }
    const name = nameJob(taskName, key)
    const job = await api.request<Job>({ verb: 'get', collection: jobs, namespace, name })
    if (isSameAttempt(job, key)) return job
    throw new SvcError('Conflict', `there is a Job ${namespace}/${name} that is not this attempt's; delete it`)
  }

  async function dropSecret({ namespace, taskName, key }: WorkloadSpec): Promise<void> {
    const name = nameJob(taskName, key)
    await api.request({ verb: 'delete', collection: collections.secrets, namespace, name }).catch(() => undefined)
  }

  /** The policies are there before the pod is. */
  async function prepareNetwork({ namespace, network, taskName }: WorkloadSpec): Promise<PodNetwork> {
    if (network === undefined || gate === undefined) {
      await namespaces.prepare(namespace)
      const what = 'the programs of a task have the network of their pod: this service has no gate for pods'
      if (network !== undefined) options.log.warn({ namespace, task: taskName }, what)
      return {}
    }
    const prepared = await gate.prepare()
    await namespaces.prepareGate(namespace, prepared.reach)
    return prepared
  }

  return async (spec: WorkloadSpec): Promise<{ job: Job; hasSecret: boolean }> => {
    const [hasSecret, network] = await Promise.all([createSecret(spec), prepareNetwork(spec)])
    try {
      return { job: await createJob(spec, network), hasSecret }
    } catch (error) {
      // A Job whose creation was not answered may exist: it keeps its Secret, and is found by the next try.
      if (hasSecret && !isSvcError(error, 'Unavailable')) await dropSecret(spec)
      throw error
    }
  }
}

function noteFaults({ log }: KubernetesWorkloadsOptions) {
  return (error: unknown, what: string) => log.warn({ error: messageOf(error), what }, 'a call to the cluster failed')
}

function secretsOf({ run }: WorkloadSpec): string[] {
  return run.kind === 'command' ? (run.redact ?? []) : []
}

/** An end with its output, and without secrets in its message. */
async function describeEnd(supervision: Supervision, attempt: Attempt, state: WorkloadState): Promise<WorkloadState> {
  if (state.phase !== 'Succeeded' && state.phase !== 'Failed') return state
  const output = await supervision.readOutput(attempt)
  const shown = output === undefined ? state : { ...state, output }
  if (shown.phase === 'Succeeded') return shown
  const redact = createRedactor(await supervision.readSecrets(attempt), 'tokens')
  return { ...shown, message: redact(shown.message) }
}

/** Nothing for a pod whose keeper has no artifacts. */
async function* readAttemptFiles(
  { connection, clock }: KubernetesWorkloadsOptions,
  sought: Promise<Attempt | undefined>,
) {
  const attempt = await sought
  const pod = attempt && podOf(attempt)
  const keeps = pod?.spec?.containers?.some(({ name, volumeMounts = [] }) => {
    return name === keeperName && volumeMounts.some(({ mountPath }) => mountPath === keeperFolder)
  })
  if (pod !== undefined && keeps) yield* readPodFiles(connection, clock, pod)
}

/** The address of a pod that has ended may be another's by now. */
function findOwner(attempts: readonly Attempt[], address: string): AttemptKey | undefined {
  const hasAddress = (pod: Pod) => pod.status?.podIPs?.some(({ ip }) => ip === address) && !hasPodEnded(pod)
  return attempts.find(({ pods: all }) => [...all.values()].some(hasAddress))?.key
}

function openCheckouts({ api, connection, clock, logs, checkouts }: KubernetesWorkloadsOptions) {
  return checkouts && createPodCheckouts({ api, connection, clock, logs, ...checkouts })
}

export function createKubernetesWorkloads(options: KubernetesWorkloadsOptions): KubernetesWorkloads {
  const {
    api,
    clock,
    ids,
    logs,
    outputFolder,
    graceSeconds = 10,
    startGraceMs = 60_000,
    nodeGraceMs = 60_000,
  } = options
  mkdirSync(outputFolder, { recursive: true, mode: 0o700 })
  const onFault = noteFaults(options)
  const closing = new AbortController()
  const table = createAttemptTable()
  const checkouts = openCheckouts(options)
  const supervised = { api, logs, clock, ids, outputFolder, checkouts, startGraceMs, nodeGraceMs, onFault }
  const supervision = createSupervision(supervised)
  const intake = createIntake(table, supervision.settle)
  const { jobCache, podCache } = createCaches(options, intake, onFault)
  const start = createStarter(options, onFault)
  const ready = () => Promise.all([jobCache.ready, podCache.ready]).then(() => undefined)
  const find = (key: AttemptKey) => ready().then(() => table.find(key))
  let swept: Promise<void> | undefined

  /** Once in each term: removes what a crash left between two writes. */
  function sweep(): void {
    const hasJob = (namespace: string, name: string) => jobCache.get(namespace, name) !== undefined
    const hasAttempt = (folder: string) => table.all().some(({ key }) => nameFolder(key) === folder)
    swept ??= Promise.all([sweepSecrets(options, hasJob), checkouts?.sweep(hasAttempt)])
      .then(() => undefined)
      .catch((error) => onFault(error, 'the sweep of what a crash left'))
  }

  async function ensure(spec: WorkloadSpec): Promise<void> {
    await ready()
    const known = table.find(spec.key)
    if (known?.job !== undefined) return
    if (spec.checkout !== undefined && checkouts === undefined)
      throw new SvcError('InvalidRequest', 'this service cannot check out git repositories')
    const { job, hasSecret } = await start(spec)
    const attempt = table.enter(spec)
    attempt.isFollowed = true
    attempt.hasSecret = hasSecret
    attempt.secrets = Promise.resolve(secretsOf(spec))
    if (spec.checkout !== undefined) openAttemptFolder(attempt).checkout = spec.checkout
    jobCache.put(job)
    supervision.settle(attempt)
  }

  async function observe(key: AttemptKey): Promise<WorkloadState> {
    await ready()
    sweep()
    const attempt = table.find(key)
    if (attempt === undefined) return { phase: 'Missing' }
    attempt.isFollowed = true
    const state = supervision.settle(attempt)
    return await describeEnd(supervision, attempt, state)
  }

  async function remove(key: AttemptKey): Promise<void> {
    const attempt = await find(key)
    const ending = { api, clock, supervision, checkouts, graceSeconds, nodeGraceMs, closing: closing.signal }
    if (attempt !== undefined) table.remove(await removeAttempt(ending, attempt))
  }

  const detach = async () => {
    swept = undefined
    await Promise.all(table.all().map(supervision.detach))
  }

  return {
    ready,
    ensure,
    observe,
    remove,
    readLeftFiles: (key) => readAttemptFiles(options, find(key)),
    onChange: supervision.onChange,
    capacity: () => Number.POSITIVE_INFINITY,
    detach,
    findPod: podCache.get,
    findJob: jobCache.get,
    ownerOf: (address) => findOwner(table.all(), address),
    close: async () => {
      closing.abort(new SvcError('Unavailable', 'the service is stopping'))
      await Promise.all([jobCache.close(), podCache.close(), detach()])
      await swept
    },
  }
}
