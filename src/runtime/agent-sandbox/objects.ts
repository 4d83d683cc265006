// The objects of kubernetes-sigs/agent-sandbox that are read and written: those fields of its API types that matter here
// (api/v1alpha1, api/v1beta1, extensions/api/v1alpha1, extensions/api/v1beta1).

import type { Collection } from '../../cluster/api/paths.ts'
import type { WorkspaceClaim } from '../../ports/workspaces/execution-workspaces.ts'
import type { Condition, StoredObject } from '../jobs/objects.ts'

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

export const labels = { instance: 'svc.ai/instance', component: 'svc.ai/component' } as const
export const component = 'execution-workspace'
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

export type SandboxTemplate = StoredObject & { spec?: Blueprint }

export type SandboxWarmPool = StoredObject & {
  spec?: { replicas?: number; sandboxTemplateRef?: { name?: string } }
  status?: { readyReplicas?: number }
}

export type SandboxClaim = StoredObject & {
  status?: { conditions?: Condition[]; sandbox?: { name?: string; podIPs?: string[] } }
}

export type Sandbox = StoredObject & {
  /** `replicas` says in v1alpha1 what `operatingMode` says later. */
  spec?: Blueprint & { operatingMode?: string; replicas?: number }
  status?: { conditions?: Condition[]; podIPs?: string[]; nodeName?: string }
}

export function isSuspended({ spec }: Sandbox): boolean {
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
  const { [labels.instance]: _instance, [labels.component]: _component, ...own } = metadata.labels ?? {}
  const template = metadata.annotations?.[templateAnnotation] ?? ''
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    template: { namespace: metadata.namespace, name: template },
    labels: own,
  }
}
