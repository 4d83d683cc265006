// The Job and the Secret of one attempt.
import { basename, join } from 'node:path/posix'
import { gzipSync } from 'node:zlib'
import { mountedFiles } from '../../contract/api/tasks/worker-pod.ts'
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { SvcError } from '../../errors.ts'
import type { MountedSecret, WorkloadRun, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import { tokenFileVariables } from '../../rules/identity/token-propagation.ts'
import { workspaceInside } from '../attempts/process-limits.ts'
import { checkoutSeconds, keeperWorkspace, waitForCheckout } from './checkouts/containers.ts'
import {
  type Helper,
  type HelperLimits,
  hardenedContainer,
  hardenPod,
  makeHelperResources,
  makeResources,
} from './hardening.ts'
import { keeperFolder } from './left-files.ts'
import { type GateAddress, guardSeconds, makeGuard } from './network-guard.ts'
import { gated } from './network-policies.ts'
import {
  agentName,
  type Component,
  containerName,
  keeperName,
  labelAttempt,
  nameJob,
  podAnnotations,
  podLabels,
  queueLabel,
} from './objects.ts'
import type { PodReach } from './reach.ts'
import { separateStreams } from './streams/launch.ts'

export type WorkerImage = {
  image: string
  /** Starts the worker program in the image; its arguments follow. */
  command: string[]
  /** The account of worker pods, created in each namespace; it has no rights. */
  serviceAccount: string
  /** Certificates (PEM) that workers trust beside the public ones. */
  authorities?: string
  /** In addition to HOME and TMPDIR. */
  environment?: Record<string, string>
}

/** What starts the worker program as the host of an agent program. */
export const hostArgument = '--host-program'

export type ManifestOptions = {
  instance: string
  worker: WorkerImage
  /** Grace period from TERM to KILL. */
  graceSeconds: number
  /** Size of /tmp. */
  scratchBytes: number
  ownerOf: (spec: WorkloadSpec) => OwnerReference | undefined
  /** Secrets with the registries' credentials, looked for in the namespace of each pod. */
  imagePullSecrets: readonly string[]
  /** The priority class for tasks with at least this priority; the highest one that a task reaches applies. */
  priorityClasses: readonly PriorityClass[]
  helperLimits: HelperLimits
  /** For an attempt whose network is the gate: the only addresses that its pod knows. */
  reach?: PodReach | undefined
  /** What its pod reaches before anything else of it begins; absent: policies are not enforced, which is accepted. */
  guarded?: GateAddress | undefined
}

export type PriorityClass = { name: string; atLeast: number }

type Command = Extract<WorkloadRun, { kind: 'command' }>
type Worker = Extract<WorkloadRun, { kind: 'worker' }>

/** The audience of worker tokens (AUTH-007). */
export const tokenAudience = 'svc-internal'
/** The kubelet renews a token when four fifths of its lifetime are over. */
const tokenSeconds = 3600
/** Limit for the whole Secret (MaxSecretSize of the API). */
const maxSecretBytes = 1024 * 1024

const assignmentKey = 'assignment.json.gz'
const authoritiesKey = 'authorities.pem'
export const redactKey = 'redact.json'
const transactionKey = 'transaction-token'

function componentOf(spec: WorkloadSpec): Component {
  if (spec.run.kind === 'worker') return 'worker'
  return spec.run.network === 'none' ? 'sealed' : 'command'
}

/** The kubelet expands `$(NAME)` and turns `$$` into `$`; a user's text must stay unchanged. */
function escapeExpansion(text: string): string {
  return text.replaceAll('$', '$$$$')
}

function holdsSecret(value: string, secrets: string[]): boolean {
  return secrets.some((secret) => secret !== '' && value.includes(secret))
}

/** Names of variables need not be valid keys. */
function nameEntry(index: number): string {
  return `env-${index}`
}

function listSecretValues({ env, redact = [] }: Command): [string, string][] {
  const values = Object.values(env).map((value, index): [string, string] => [nameEntry(index), value])
  return values.filter(([, value]) => holdsSecret(value, redact))
}

function hasSecret(run: WorkloadRun): boolean {
  return run.kind === 'worker' || (run.redact ?? []).length > 0 || run.transactionToken !== undefined
}

/** A Secret of another namespace cannot be mounted, so its values are copied into the attempt's own. */
function listForeign({ namespace, secrets = [] }: WorkloadSpec): MountedSecret[] {
  return secrets.filter((secret) => secret.namespace !== namespace)
}

/** Names of folders are one word (`secretFolders`), names of entries have no `..`. */
function nameForeign({ folder }: MountedSecret, entry: string): string {
  return `${basename(folder)}-${entry}`
}

function listForeignEntries(spec: WorkloadSpec): [string, string][] {
  return listForeign(spec).flatMap((secret) =>
    Object.entries(secret.entries).map(([entry, text]): [string, string] => [nameForeign(secret, entry), text]),
  )
}

function makeSecretData(spec: WorkloadSpec, { worker }: ManifestOptions): Record<string, string> {
  const { run } = spec
  if (run.kind === 'worker') {
    const { authorities } = worker
    return {
      [assignmentKey]: gzipSync(JSON.stringify(run.assignment), { level: 1 }).toString('base64'),
      ...(authorities === undefined ? {} : { [authoritiesKey]: Buffer.from(authorities).toString('base64') }),
    }
  }
  const { transactionToken: token } = run
  const own = token === undefined ? [] : [[transactionKey, token] as const]
  const foreign = listForeignEntries(spec)
  const entries = [...listSecretValues(run), ...own, ...foreign, [redactKey, JSON.stringify(run.redact ?? [])] as const]
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
}

function describeObject(spec: WorkloadSpec, options: ManifestOptions) {
  const owner = options.ownerOf(spec)
  return {
    name: nameJob(spec.taskName, spec.key),
    namespace: spec.namespace,
    labels: {
      ...spec.labels,
      ...labelAttempt(options.instance, componentOf(spec), spec.key),
      [podLabels.task]: spec.taskName,
      ...(options.reach && { [podLabels.network]: gated }),
    },
    annotations: {
      ...spec.annotations,
      ...(hasSecret(spec.run) && { [podAnnotations.hasSecret]: 'true' }),
    },
    ownerReferences: owner && [owner],
  }
}

/** What must not be in a pod spec: the assignment, secret variables. Undefined when there is none. */
export function makeSecret(spec: WorkloadSpec, options: ManifestOptions): object | undefined {
  if (!hasSecret(spec.run)) return undefined
  const data = makeSecretData(spec, options)
  const size = Object.values(data).reduce((sum, text) => sum + text.length * 0.75, 0)
  if (size > maxSecretBytes) {
    throw new SvcError(
      'TooLarge',
      'what the attempt starts with is over 1 MiB; shorten its prompt, session or variables',
    )
  }
  return { apiVersion: 'v1', kind: 'Secret', metadata: describeObject(spec, options), immutable: true, data }
}

function makeEnv(run: Command, secretName: string): object[] {
  const secret = new Set(listSecretValues(run).map(([key]) => key))
  const variables = Object.entries(run.env).map(([name, value], index) => {
    const key = nameEntry(index)
    if (!secret.has(key)) return { name, value: escapeExpansion(value) }
    return { name, valueFrom: { secretKeyRef: { name: secretName, key } } }
  })
  // The image's own home is not writable: the root is read-only and the user differs.
  return 'HOME' in run.env ? variables : [...variables, { name: 'HOME', value: '/tmp' }]
}

/** Size of the workspace of a task that sets none. */
const defaultDiskBytes = 2 * 1024 ** 3
/** How much of a command's output the kubelet keeps before it rotates the files. */
const logBytes = 256 * 1024 ** 2

function diskBytesOf({ limits }: WorkloadSpec): number {
  return limits.diskBytes ?? defaultDiskBytes
}

function makeScratch(name: string, bytes: number) {
  return { name, emptyDir: { sizeLimit: String(bytes) } }
}

/** The task's own context token, as a file of the container. */
function mountToken({ transactionToken }: Command, secretName: string) {
  if (transactionToken === undefined) return { env: [], mounts: [], volumes: [] }
  const { folder, name: path } = mountedFiles.transaction
  const secret = { secretName, defaultMode: 0o440, items: [{ key: transactionKey, path }] }
  return {
    env: tokenFileVariables.map((name) => ({ name, value: `${folder}/${path}` })),
    mounts: [{ name: 'transaction', mountPath: folder, readOnly: true }],
    volumes: [{ name: 'transaction', secret }],
  }
}

/** The Secrets that the task names, as Kubernetes mounts them. */
function mountSecrets(spec: WorkloadSpec, secretName: string) {
  const own = spec.secrets ?? []
  const foreign = new Set(listForeign(spec))
  const volumes = own.map((mounted) => {
    const name = `secret-${basename(mounted.folder)}`
    if (!foreign.has(mounted)) return { name, secret: { secretName: mounted.name, defaultMode: 0o440 } }
    const items = Object.keys(mounted.entries).map((path) => ({ key: nameForeign(mounted, path), path }))
    return { name, secret: { secretName, defaultMode: 0o440, items } }
  })
  const mounts = own.map(({ folder }) => ({ name: `secret-${basename(folder)}`, mountPath: folder, readOnly: true }))
  return { volumes, mounts }
}

function helperOf({ worker, helperLimits }: ManifestOptions): Helper {
  return { image: worker.image, limits: helperLimits }
}

/** Only the kubelet knows what an image starts by default, so nothing can be put in front of it. */
function chooseStreams(run: Command, options: ManifestOptions) {
  if (run.command.length === 0) return { launcher: [], mounts: [], volumes: [], sidecars: [] }
  return separateStreams(helperOf(options), escapeExpansion, logBytes)
}

function makeCommandPod(run: Command, spec: WorkloadSpec, options: ManifestOptions) {
  const { worker, scratchBytes } = options
  // In an image of the user's there is a workspace only for a repository.
  const hasWorkspace = run.image === undefined || spec.checkout !== undefined
  const lines = (texts: string[]) => texts.map(escapeExpansion)
  const secretName = nameJob(spec.taskName, spec.key)
  const token = mountToken(run, secretName)
  const secrets = mountSecrets(spec, secretName)
  const streams = chooseStreams(run, options)
  const container = {
    image: run.image ?? worker.image,
    ...(run.command.length > 0 && { command: [...streams.launcher, ...lines(run.command)] }),
    ...(run.args.length > 0 && { args: lines(run.args) }),
    ...(hasWorkspace && { workingDir: workFolderOf(spec) }),
    env: [...makeEnv(run, secretName), ...token.env],
    // The last output of a failed program is part of the pod's status.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(hasWorkspace ? [{ name: 'workspace', mountPath: workspaceInside }] : []),
      ...(run.artifactsDir === undefined ? [] : [{ name: artifactsVolume, mountPath: run.artifactsDir }]),
      ...token.mounts,
      ...secrets.mounts,
      ...streams.mounts,
    ],
  }
  const workspace = makeScratch('workspace', diskBytesOf(spec))
  const scratch = [makeScratch('tmp', scratchBytes), ...(hasWorkspace ? [workspace] : [])]
  const left = run.artifactsDir === undefined ? [] : [makeScratch(artifactsVolume, diskBytesOf(spec))]
  return {
    container,
    volumes: [...scratch, ...left, ...token.volumes, ...secrets.volumes, ...streams.volumes],
    account: { automountServiceAccountToken: false },
    sidecars: streams.sidecars,
    beside: [],
  }
}

const artifactsVolume = 'artifacts'
/** The service reads the files before the kubelet ends the pod: its own limit is earlier. */
const keeperSeconds = 120

/** A sidecar starts before the command, which still has its full time. */
const sidecarSeconds = 2

/** Where a program begins. */
function workFolderOf({ checkout }: WorkloadSpec): string {
  return join(workspaceInside, checkout?.spec.subPath ?? '')
}

/** Outlives the program, so that its files can be read; ends with the pod. */
function makeKeeper(spec: WorkloadSpec, { worker, helperLimits }: ManifestOptions) {
  return {
    name: keeperName,
    image: worker.image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/bin/sh', '-c', 'exec sleep 2147483647'],
    volumeMounts: [
      ...(keepsArtifacts(spec) ? [{ name: artifactsVolume, mountPath: keeperFolder, readOnly: true }] : []),
      // What the program let nobody read is made readable.
      ...(spec.checkout === undefined ? [] : [{ name: 'workspace', mountPath: keeperWorkspace }]),
    ],
    resources: makeHelperResources(helperLimits),
    securityContext: hardenedContainer,
  }
}

function keepsArtifacts({ run }: WorkloadSpec): boolean {
  return run.kind === 'command' && run.artifactsDir !== undefined
}

function hasKeeper(spec: WorkloadSpec): boolean {
  return keepsArtifacts(spec) || spec.checkout !== undefined
}

const agentVolume = 'agent'
const agentScratch = 'agent-tmp'

/** What the worker of an agent task needs beside its program; the limits of the task are the program's. */
const workerLimits = { cpu: 1, memoryBytes: 512 * 1024 ** 2 }

/** The agent program has a container of its own: it shares the workspace and its home with the worker, and nothing else. */
function makeAgentContainer(spec: WorkloadSpec, image: string, options: ManifestOptions) {
  const { worker, scratchBytes } = options
  const { folder } = mountedFiles.programs
  return {
    name: agentName,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [...worker.command, hostArgument],
    workingDir: workspaceInside,
    env: [{ name: 'HOME', value: folder }],
    volumeMounts: [
      { name: agentScratch, mountPath: '/tmp' },
      { name: 'workspace', mountPath: workspaceInside },
      { name: agentVolume, mountPath: folder },
    ],
    resources: makeResources('worker', { ...spec.limits, diskBytes: diskBytesOf(spec) + 2 * scratchBytes }),
    securityContext: hardenedContainer,
  }
}

/** Nothing for a worker that starts no program. */
function hostAgent(run: Worker, spec: WorkloadSpec, options: ManifestOptions) {
  const { agentImage } = run
  if (agentImage === undefined) return { environment: {}, mounts: [], volumes: [], containers: [] }
  const { folder } = mountedFiles.programs
  return {
    environment: { TMPDIR: folder },
    mounts: [{ name: agentVolume, mountPath: folder }],
    volumes: [agentVolume, agentScratch].map((name) => makeScratch(name, options.scratchBytes)),
    containers: [makeAgentContainer(spec, agentImage, options)],
  }
}

function makeWorkerPod(run: Worker, spec: WorkloadSpec, options: ManifestOptions) {
  const { worker, scratchBytes } = options
  const { assignment, token, authorities } = mountedFiles
  const agent = hostAgent(run, spec, options)
  const trusted = worker.authorities !== undefined
  const environment = {
    HOME: '/workspace',
    TMPDIR: '/tmp',
    LANG: 'C.UTF-8',
    ...(trusted && { NODE_EXTRA_CA_CERTS: `${authorities.folder}/${authorities.name}` }),
    ...worker.environment,
    ...agent.environment,
  }
  const container = {
    // It looks for the program where the other container has it.
    image: run.agentImage ?? worker.image,
    command: [...worker.command, '--pod'],
    workingDir: '/workspace',
    env: Object.entries(environment).map(([name, value]) => ({ name, value: escapeExpansion(value) })),
    terminationMessagePath: mountedFiles.outcome,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'workspace', mountPath: '/workspace' },
      { name: 'assignment', mountPath: assignment.folder, readOnly: true },
      { name: 'token', mountPath: token.folder, readOnly: true },
      ...agent.mounts,
    ],
  }
  const serviceAccountToken = { audience: tokenAudience, expirationSeconds: tokenSeconds, path: token.name }
  const items = [
    { key: assignmentKey, path: assignment.name },
    ...(trusted ? [{ key: authoritiesKey, path: authorities.name }] : []),
  ]
  const volumes = [
    makeScratch('tmp', scratchBytes),
    makeScratch('workspace', diskBytesOf(spec)),
    { name: 'assignment', secret: { secretName: nameJob(spec.taskName, spec.key), defaultMode: 0o440, items } },
    { name: 'token', projected: { defaultMode: 0o440, sources: [{ serviceAccountToken }] } },
    ...agent.volumes,
  ]
  const account = { automountServiceAccountToken: false, serviceAccountName: worker.serviceAccount }
  return { container, volumes, account, sidecars: [], beside: agent.containers }
}

function choosePriorityClass({ priority = 0 }: WorkloadSpec, { priorityClasses }: ManifestOptions) {
  const reached = priorityClasses.filter(({ atLeast }) => atLeast <= priority)
  const highest = reached.toSorted((a, b) => b.atLeast - a.atLeast)[0]
  return highest === undefined ? {} : { priorityClassName: highest.name }
}

/** In the words of a pod's spec. */
export function listPullSecrets(names: readonly string[]) {
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) }
}

/** On the pod, not the Job: the time that a pod waits for a node does not count (TASK-041). */
function limitTime(spec: WorkloadSpec, hasSidecar: boolean, isGuarded: boolean) {
  const { deadlineSeconds } = spec.limits
  if (deadlineSeconds === undefined) return {}
  const more = [
    keepsArtifacts(spec) ? keeperSeconds : 0,
    spec.checkout === undefined ? 0 : checkoutSeconds,
    hasSidecar ? sidecarSeconds : 0,
    isGuarded ? guardSeconds : 0,
  ]
  return { activeDeadlineSeconds: more.reduce((sum, next) => sum + next, Math.max(1, Math.ceil(deadlineSeconds))) }
}

/** Without DNS, also where the network plugin enforces no policy. */
function limitNames({ reach }: ManifestOptions) {
  if (reach === undefined) return {}
  const { hostAliases } = reach
  return { dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] }, hostAliases }
}

function makePodSpec(spec: WorkloadSpec, options: ManifestOptions) {
  const { run, limits } = spec
  const { queue: _, ...placement } = spec.placement ?? {}
  const { container, volumes, account, sidecars, beside } =
    run.kind === 'worker' ? makeWorkerPod(run, spec, options) : makeCommandPod(run, spec, options)
  const waiting = spec.checkout && waitForCheckout(helperOf(options))
  const { guarded } = options
  const guard = guarded === undefined ? [] : [makeGuard(helperOf(options), guarded, escapeExpansion)]
  const first = [...guard, ...(waiting === undefined ? [] : [waiting.container]), ...sidecars]
  return {
    restartPolicy: 'Never',
    ...limitTime(spec, sidecars.length > 0, guarded !== undefined),
    terminationGracePeriodSeconds: options.graceSeconds,
    enableServiceLinks: false,
    ...placement,
    ...choosePriorityClass(spec, options),
    ...listPullSecrets(options.imagePullSecrets),
    ...limitNames(options),
    ...account,
    securityContext: hardenPod(1000),
    ...(first.length > 0 && { initContainers: first }),
    containers: [
      {
        name: containerName,
        imagePullPolicy: 'IfNotPresent',
        ...container,
        resources: makeResources(componentOf(spec), {
          ...(beside.length > 0 ? workerLimits : limits),
          diskBytes: diskBytesOf(spec) + options.scratchBytes + (sidecars.length > 0 ? 0 : logBytes),
        }),
        securityContext: hardenedContainer,
      },
      ...beside,
      ...(hasKeeper(spec) ? [makeKeeper(spec, options)] : []),
    ],
    volumes: [...volumes, ...(waiting === undefined ? [] : [waiting.volume])],
  }
}

/** The Job of an attempt. It runs once: the task controller decides what follows a failure. */
export function makeJob(spec: WorkloadSpec, options: ManifestOptions): object {
  const metadata = describeObject(spec, options)
  const { queue } = spec.placement ?? {}
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...metadata, labels: { ...metadata.labels, ...(queue && { [queueLabel]: queue }) } },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      template: {
        metadata: { labels: metadata.labels, annotations: metadata.annotations },
        spec: makePodSpec(spec, options),
      },
    },
  }
}
