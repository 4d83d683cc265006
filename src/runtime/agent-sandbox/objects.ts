// The objects of kubernetes-sigs/agent-sandbox that are read and written: those fields of its API types that matter
// here (api/v1alpha1, api/v1beta1, extensions/api/v1alpha1, extensions/api/v1beta1). Also what the status of a claim
// says: the Ready condition of its sandbox, or why there is none (SandboxClaim and Sandbox controllers of
// agent-sandbox).
import type { Collection } from '../../cluster/api/paths.ts'
import type { WorkspaceClaim, WorkspaceFailure, WorkspaceState } from '../../ports/workspaces/execution-workspaces.ts'
import type { ClusterObject, ObjectCondition } from '../jobs/objects.ts'

export const groups = { core: 'agents.x-k8s.io', extensions: 'extensions.agents.x-k8s.io' } as const

/** Newest first. */
export const versions = ['v1beta1', 'v1alpha1'] as const
export type SandboxVersion = (typeof versions)[number]

export type SandboxCollections = Record<'sandboxes' | 'claims' | 'templates' | 'pools', Collection>

export function listCollections(version: SandboxVersion): SandboxCollections {
  const extension = (plural: string) => ({ group: groups.extensions, version, plural })
  return {
    sandboxes: { group: groups.core, version, plural: 'sandboxes' },
    claims: extension('sandboxclaims'),
    templates: extension('sandboxtemplates'),
    pools: extension('sandboxwarmpools'),
  }
}

export const claimLabels = { instance: 'svc.ai/instance', component: 'svc.ai/component' } as const
export const claimComponent = 'execution-workspace'
export const templateAnnotation = 'svc.ai/workspace-template'
/** A sandbox may have a pod of another name, if it was in a warm pool. */
export const podNameAnnotation = 'agents.x-k8s.io/pod-name'
/** The container that programs run in, if it is not the first (https://kubernetes.io/docs/reference/labels-annotations-taints/). */
export const containerAnnotation = 'kubectl.kubernetes.io/default-container'

export type SandboxContainer = {
  name: string
  workingDir?: string
  volumeMounts?: { name: string; mountPath: string }[]
}

/** What a template and a sandbox have in common. */
export type Blueprint = {
  podTemplate?: {
    metadata?: { annotations?: Record<string, string> }
    spec?: { containers?: SandboxContainer[]; hostPID?: boolean }
  }
  volumeClaimTemplates?: { metadata?: { name?: string } }[]
}

export type SandboxTemplate = ClusterObject & { spec?: Blueprint }

export type SandboxWarmPool = ClusterObject & {
  spec?: { replicas?: number; sandboxTemplateRef?: { name?: string } }
  status?: { readyReplicas?: number }
}

export type SandboxClaim = ClusterObject & {
  status?: { conditions?: ObjectCondition[]; sandbox?: { name?: string; podIPs?: string[] } }
}

export type SandboxObject = ClusterObject & {
  /** `replicas` says in v1alpha1 what `operatingMode` says later. */
  spec?: Blueprint & { operatingMode?: string; replicas?: number }
  status?: { conditions?: ObjectCondition[]; podIPs?: string[]; nodeName?: string }
}

export function isSuspended({ spec }: SandboxObject): boolean {
  return spec?.operatingMode === 'Suspended' || spec?.replicas === 0
}

/** The patch that suspends a sandbox, or resumes it. */
export function setRunning(version: SandboxVersion, isRunning: boolean): object {
  if (version === 'v1alpha1') return { spec: { replicas: isRunning ? 1 : 0 } }
  return { spec: { operatingMode: isRunning ? 'Running' : 'Suspended' } }
}

export function chooseContainer({ podTemplate }: Blueprint): SandboxContainer | undefined {
  const containers = podTemplate?.spec?.containers ?? []
  const named = podTemplate?.metadata?.annotations?.[containerAnnotation]
  return containers.find(({ name }) => name === named) ?? containers[0]
}

/** Where the container has a volume that outlives its pod. */
export function findLastingFolder(blueprint: Blueprint): string | undefined {
  const lasting = new Set(blueprint.volumeClaimTemplates?.map(({ metadata }) => metadata?.name))
  return chooseContainer(blueprint)?.volumeMounts?.find(({ name }) => lasting.has(name))?.mountPath
}

/** What was asked for, from the claim that was made of it. */
export function readClaim({ metadata }: SandboxClaim): WorkspaceClaim {
  const { [claimLabels.instance]: _instance, [claimLabels.component]: _component, ...own } = metadata.labels ?? {}
  const template = metadata.annotations?.[templateAnnotation] ?? ''
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    template: { namespace: metadata.namespace, name: template },
    labels: own,
  }
}

/** Reasons that stay until somebody changes the template. */
const lasting: Record<string, WorkspaceFailure> = {
  InvalidMetadata: 'TemplateIncompatible',
  EnvVarsInjectionRejected: 'TemplateIncompatible',
  VolumeClaimTemplatesError: 'TemplateIncompatible',
}

/** Its sandbox, or what ran in it, has ended; or nobody can tell any more which pod it is. */
const ended = new Set(['ClaimExpired', 'SandboxExpired', 'PodFailed', 'PodSucceeded', 'MultiplePods'])

const suspended = 'SandboxSuspended'

function readyConditionOf({ status }: SandboxClaim): ObjectCondition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')
}

/** Name of the sandbox that can be used now. */
export function findReadySandbox(claim: SandboxClaim): string | undefined {
  return readyConditionOf(claim)?.status === 'True' ? claim.status?.sandbox?.name : undefined
}

export function isSuspendedClaim(claim: SandboxClaim): boolean {
  return readyConditionOf(claim)?.reason === suspended
}

function describe({ reason, message }: ObjectCondition): string {
  return [reason, message].filter((part) => part !== undefined && part !== '').join(': ')
}

export function judgeClaim(claim: SandboxClaim | undefined): WorkspaceState {
  if (claim === undefined) return { phase: 'Absent' }
  if (claim.metadata.deletionTimestamp !== undefined) return { phase: 'Pending', message: 'it is being deleted' }
  const ready = readyConditionOf(claim)
  if (ready === undefined) return { phase: 'Pending', message: 'agent-sandbox has not looked at its claim yet' }
  if (findReadySandbox(claim) !== undefined) return { phase: 'Ready' }
  const { reason = '' } = ready
  if (reason === suspended) return { phase: 'Suspended' }
  const failure = ended.has(reason) ? 'WorkspaceLost' : lasting[reason]
  if (failure === undefined) return { phase: 'Pending', message: describe(ready) }
  return { phase: 'Failed', reason: failure, message: `agent-sandbox says of its claim: ${describe(ready)}` }
}
